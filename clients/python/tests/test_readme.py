"""The sessions of the README run, and print what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import check_session, find_sessions

SESSIONS = find_sessions(Path(__file__).parent.parent / "README.md")


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.split("\n")[0])
def test_a_session_prints_what_its_comments_say(session: str) -> None:
    check_session(session, "-W", "error")


def test_there_is_a_session_for_each_face() -> None:
    assert len(SESSIONS) == 2

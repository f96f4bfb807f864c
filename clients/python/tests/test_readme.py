"""The sessions of the README run, and print what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sessions import check_session, find_sessions

SESSIONS = find_sessions(Path(__file__).parent.parent / "README.md")


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.split("\n")[0])
def test_a_session_prints_what_its_comments_say(session: str) -> None:
    check_session(session, "-W", "error")


def test_there_is_a_session_for_each_face() -> None:
    assert len(SESSIONS) == 2


def test_the_first_pages_program_recalls_in_the_next_chat() -> None:
    (program,) = find_sessions(Path(__file__).parents[3] / "README.md")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert "penicillin" in done.stdout, done.stderr

"""The sessions of the README run, and print what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.split("\n")[0])
def test_a_session_prints_what_its_comments_say(session: str) -> None:
    """A comment `# → text` is what the line before prints, or begins with where `…` ends it."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", session],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"# → (.*)", session)
    assert shown
    printed = iter(done.stdout.splitlines())
    for line in shown:
        begin, cut, _ = line.partition("…")
        assert any(one.startswith(begin) if cut else one == line for one in printed), line


def test_there_is_a_session_for_each_face() -> None:
    assert len(SESSIONS) == 2

"""Runs the programs of a README, and compares what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def find_sessions(readme: Path) -> list[str]:
    """Return the Python programs of a README."""
    return re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)


def check_session(session: str, *options: str, python: str = sys.executable) -> None:
    """Run a program with options of Python's; it must print what its comments say."""
    done = subprocess.run(
        [python, *options, "-c", session],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    check_printed(session, done.stdout)


def check_printed(session: str, output: str) -> None:
    """Fail where a program has not printed what its comments say.

    A comment `# → text` is what the line before prints, or begins with where `…` ends it.
    """
    shown = re.findall(r"# → (.*)", session)
    assert shown
    printed = iter(output.splitlines())
    for line in shown:
        begin, cut, _ = line.partition("…")
        assert any(one.startswith(begin) if cut else one == line for one in printed), line

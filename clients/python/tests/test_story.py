"""The moving picture on the server's first page shows what the server answers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
NEW = re.compile(r"receipt [\w-]{36}|on \d{4}-\d\d-\d\d(?=: Ana)")
"""What is new each time: receipts, and the day of the correction."""


def test_the_picture_shows_what_the_server_answers(tmp_path: Path) -> None:
    drawn = tmp_path / "story.svg"
    subprocess.run([sys.executable, DOCS / "story.py", drawn], timeout=120, check=True)
    shown, now = (NEW.sub("", path.read_text()) for path in (DOCS / "story.svg", drawn))
    assert shown == now

"""The programs of the adapters' README run by copy and paste, and print what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import check_printed, find_sessions

from memory_server_client import integrations

FOLDER = Path(integrations.__file__).parent
MODULES = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "keeping"}
SESSIONS = {
    module: session
    for session in find_sessions(FOLDER / "README.md")
    for module in MODULES
    if f"integrations.{module} import" in session
}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_program_prints_what_its_comments_say(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, which has imported most frameworks: each takes seconds."""
    exec(compile(SESSIONS[module], module, "exec"), {"__name__": "__main__"})
    check_printed(SESSIONS[module], capsys.readouterr().out)

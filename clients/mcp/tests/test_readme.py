"""The configurations of the README are valid, name what is there, and its table is whole."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from memory_mcp.server import SCOPES

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", README, re.S))
def test_a_configuration_names_our_command_or_address(block: str) -> None:
    configuration = json.loads(block)
    servers = configuration.get("mcpServers") or configuration["servers"]
    entry = servers["memory"]
    if "command" in entry:
        assert shutil.which(entry["command"]) and set(entry["env"]) == {"MEMORY_URL", "MEMORY_KEY"}
    else:
        assert entry["url"].endswith("/mcp")
        assert entry["headers"]["Authorization"].startswith("Bearer ")


def test_the_table_has_each_tool_with_its_scope() -> None:
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| `?(\w+)`? \|$", README, re.M))
    assert table == {name: scope or "none" for name, scope in SCOPES.items()}

"""The memory tool beside the SDK's own, which writes to a disk: Claude is told the same."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from memory_server_client import Client
from memory_server_client.integrations.anthropic import (
    AsyncMemoryServerMemoryTool,
    Files,
    MemoryServerMemoryTool,
)

NOTES, PLAN = "/memories/notes.md", "/memories/work/plan/today.md"
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": NOTES, "file_text": "  One\nTwo\n\nTwo\n "},
    {"command": "create", "path": NOTES, "file_text": "Again."},
    {"command": "view", "path": NOTES},
    {"command": "view", "path": NOTES, "view_range": [2, 3]},
    {"command": "view", "path": NOTES, "view_range": [4, -1]},
    {"command": "view", "path": NOTES, "view_range": [9, 3]},
    {"command": "str_replace", "path": NOTES, "old_str": "Two", "new_str": "2"},
    {"command": "str_replace", "path": NOTES, "old_str": "Three", "new_str": "3"},
    {"command": "str_replace", "path": NOTES, "old_str": "", "new_str": "3"},
    {"command": "str_replace", "path": NOTES, "old_str": "One\nTwo", "new_str": "1\n2\n3"},
    {"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "First\n"},
    {"command": "insert", "path": NOTES, "insert_line": 7, "insert_text": "Last"},
    {"command": "insert", "path": NOTES, "insert_line": 9, "insert_text": "Beyond"},
    {"command": "insert", "path": NOTES, "insert_line": -1, "insert_text": "Before"},
    {"command": "view", "path": NOTES},
    {"command": "create", "path": PLAN, "file_text": ""},
    {"command": "view", "path": PLAN},
    {"command": "insert", "path": PLAN, "insert_line": 0, "insert_text": "\n"},
    {"command": "view", "path": PLAN},
    {"command": "insert", "path": PLAN, "insert_line": 1, "insert_text": "Sail."},
    {"command": "view", "path": PLAN},
    {"command": "create", "path": "/memories/.hidden", "file_text": "x"},
    {"command": "create", "path": "/memories/work", "file_text": "x"},
    {"command": "create", "path": "/memories", "file_text": "x"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/work"},
    {"command": "view", "path": "/memories/none"},
    {"command": "insert", "path": "/memories/none", "insert_line": 0, "insert_text": "x"},
    {"command": "str_replace", "path": "/memories/work", "old_str": "a", "new_str": "b"},
    {"command": "rename", "old_path": NOTES, "new_path": PLAN},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/new"},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/play"},
    {"command": "rename", "old_path": NOTES, "new_path": "/memories/play/notes.md"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/play/plan/today.md"},
    {"command": "delete", "path": "/memories/play/notes.md"},
    {"command": "delete", "path": "/memories/play"},
    {"command": "delete", "path": "/memories/play"},
    {"command": "delete", "path": "/memories"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/new"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../secrets"},
    {"command": "create", "path": "/memories/a/../../x", "file_text": "x"},
    {"command": "delete", "path": "/memories/../.."},
]


@pytest.fixture
def tool(client: Client) -> MemoryServerMemoryTool:
    return MemoryServerMemoryTool(client, user_id=f"u-{uuid.uuid4()}")


def ask(tool: Any, command: dict[str, Any]) -> tuple[str, str]:
    """Return what Claude is told, and whether it is an error; sizes of directories differ."""
    try:
        return "done", re.sub(r"[\d.]+[BKM]\t", "", tool.call(command))
    except ToolError as error:
        return "error", str(error.content)


def test_claude_is_told_what_the_sdks_own_tool_says(
    tool: MemoryServerMemoryTool, tmp_path: Path
) -> None:
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    assert tool.to_dict() == theirs.to_dict()
    for command in COMMANDS:
        assert ask(tool, command) == ask(theirs, command), command
    assert str(tool.call({"command": "view", "path": "/memories/"})).endswith("\n0.0K\t/memories")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ({"command": "view", "path": "/memories/%2e%2e/x"}, "would escape"),
        ({"command": "view", "path": "/memories/..\\x"}, "would escape"),
        ({"command": "view", "path": "/memoriesx"}, "must start with /memories"),
        ({"command": "create", "path": f"{NOTES}/x", "file_text": "x"}, "not a directory"),
        ({"command": "create", "path": "/memories/" + "x" * 999, "file_text": "x"}, "source_path"),
        ({"command": "create", "path": "/memories/x", "file_text": "x" * 70_000}, "content"),
        ({"command": "create", "path": "/memories/x", "file_text": "\x00"}, "NUL"),
        ({"command": "rename", "old_path": NOTES, "new_path": f"{NOTES}/x"}, "not a directory"),
    ],
)
def test_what_cannot_be_is_an_error_that_claude_reads(
    tool: MemoryServerMemoryTool, command: dict[str, Any], problem: str
) -> None:
    tool.call({"command": "create", "path": NOTES, "file_text": "One"})
    outcome, text = ask(tool, command)
    assert outcome == "error" and problem in text, text


def test_files_are_of_one_user(client: Client, tool: MemoryServerMemoryTool) -> None:
    tool.call({"command": "create", "path": NOTES, "file_text": "My boat is called Nautilus."})
    view = {"command": "view", "path": NOTES}
    assert "Nautilus" in ask(tool, view)[1] and "Nautilus" in client.recall(
        "What is my boat called?", user_id=tool.user_id
    )
    other = MemoryServerMemoryTool(client, user_id=f"{tool.user_id}-other")
    with Client(key=os.environ["MEMORY_STRANGER_KEY"]) as stranger:
        theirs = MemoryServerMemoryTool(stranger, user_id=tool.user_id)
        assert ask(other, view) == ask(theirs, view)
    assert ask(other, view)[0] == "error"
    with pytest.raises(ValueError, match="name one"):
        MemoryServerMemoryTool(client, user_id="")


def test_a_change_can_be_undone(client: Client, tool: MemoryServerMemoryTool) -> None:
    tool.call({"command": "create", "path": NOTES, "file_text": "One"})
    tool.call({"command": "str_replace", "path": NOTES, "old_str": "One", "new_str": "Two"})
    tool.call({"command": "rename", "old_path": NOTES, "new_path": PLAN})
    versions = tool.list_versions(PLAN)
    assert [(one["version"], one["content"]) for one in versions] == [
        (3, "Two"),
        (2, "Two"),
        (1, "One"),
    ]
    tool.restore(PLAN, 1)
    assert ask(tool, {"command": "view", "path": PLAN})[1].endswith("     1\tOne")
    assert len(tool.list_versions(PLAN)) == 4
    tool.call({"command": "delete", "path": "/memories/work"})
    tool.restore(PLAN)
    assert len(tool.list_versions(PLAN)) == 4
    with pytest.raises(ToolError, match="already exists"):
        tool.restore(PLAN)


def test_a_view_leaves_a_receipt(client: Client, tool: MemoryServerMemoryTool) -> None:
    for path in (NOTES, PLAN):
        tool.call({"command": "create", "path": path, "file_text": "One"})
    tool.call({"command": "view", "path": PLAN})
    (note,) = (one for one in client.list_notes(user_id=tool.user_id) if one["source_path"] == PLAN)
    receipt = next(iter(client.list_retrievals()))
    assert [hit["memory_id"] for hit in client.get_retrieval(receipt["id"])["hits"]] == [note["id"]]


class Interrupted(MemoryServerMemoryTool):
    """A tool beside another that writes when this one has first looked what there is."""

    is_first = True

    def _files(self) -> Files:
        files = super()._files()
        other = MemoryServerMemoryTool(self.client, user_id=self.user_id)
        is_first, self.is_first = self.is_first, False
        if not is_first:
            return files
        if files:
            other.call({"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "0"})
        else:
            other.call({"command": "create", "path": NOTES, "file_text": "One"})
        return files


def test_who_comes_second_is_told_and_leaves_no_second_file(client: Client) -> None:
    user = f"u-{uuid.uuid4()}"
    tool = MemoryServerMemoryTool(client, user_id=user)
    create = {"command": "create", "path": NOTES, "file_text": "Two"}
    change = {"command": "str_replace", "path": NOTES, "old_str": "One", "new_str": "1"}
    told = ("error", "Another agent has just changed the file: view it again.")
    for command in (create, change):
        assert ask(Interrupted(client, user_id=user), command) == told
    assert ask(tool, change)[0] == "done"
    assert [note["source_path"] for note in client.list_notes(user_id=user)] == [NOTES]


async def test_coroutines_have_the_same_tool(tool: MemoryServerMemoryTool) -> None:
    both = AsyncMemoryServerMemoryTool(tool)
    await both.call({"command": "create", "path": NOTES, "file_text": "One"})
    assert both.name == "memory" and "One" in await both.call({"command": "view", "path": NOTES})

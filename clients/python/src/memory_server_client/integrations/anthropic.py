"""Claude's memory tool, `memory_20250818`, whose files are notes of a user."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncBuiltinFunctionTool, ToolError

from memory_server_client import BadRequest, Client, Conflict, NotFound, TooLarge
from memory_server_client.types import ListedNote, NoteOutput, NoteVersionOutput

ROOT, TAG, BLANK = "/memories", "claude-memory", "(blank)"
CHANGED = "Another agent has just changed the file: view it again."
PAGE, LABEL_AT_MOST, ID_AT_MOST = 200, 300, 255
DEPTH = 2
"""Levels that a view of a directory shows."""
Files: TypeAlias = dict[str, ListedNote]
"""Files by path."""


class MemoryServerMemoryTool(BetaAbstractMemoryTool):
    """Keeps each file as a note of the user, found by all his agents, with every version.

    Answers are worded as those of the SDK's own tool, which writes to a disk. A change is refused
    where somebody else changed the file since it was read: Claude then looks again.
    """

    def __init__(self, client: Client, *, user_id: str, cache_control: Any = None) -> None:
        """Offer the files of one user.

        Args:
            user_id: whose files, by your own id; no path leads to another's.
            cache_control: a cache breakpoint at the tool's definition.
        """
        if not user_id:
            raise ValueError("Files belong to a user: name one.")
        super().__init__(cache_control=cache_control)
        self.client = client
        self.user_id = user_id
        self.deleted: dict[str, str] = {}
        """Notes of the files that this tool has deleted, by path."""

    def execute(self, command: Any) -> Any:
        """Do what Claude asks for; what the server refuses becomes a `ToolError`."""
        try:
            return super().execute(command)
        except (Conflict, NotFound):
            raise ToolError(CHANGED) from None
        except (BadRequest, TooLarge) as error:
            raise ToolError(str(error)) from None

    def view(self, command: Any) -> str:
        """Return the lines of a file, numbered, or what is in a directory.

        A search for the file alone leaves the receipt.
        """
        path, files = check_path(command.path), self._files()
        if path not in files and (path == ROOT or below(files, path)):
            return render_folder(path, below(files, path))
        lines = self._read(path, files).split("\n")
        self.client.search(
            "*", user_id=self.user_id, tag=TAG, source_ids=[path[:ID_AT_MOST]], max_results=1
        )
        first, last = command.view_range or (1, -1)
        shown = number(lines, max(1, first) - 1, len(lines) if last == -1 else last)
        return f"Here's the content of {path} with line numbers:\n{shown}"

    def create(self, command: Any) -> str:
        """Create a file."""
        path = check_new(command.path, self._files(), f"File {command.path} already exists")
        fields = {**name_file(path), **keep_text(command.file_text)}
        note = self.client.add_note(user_id=self.user_id, tags=[TAG], **fields)
        if self._files()[path]["id"] != note["id"]:  # another was made at once, and came first
            self.client.delete_note(note["id"])
            raise ToolError(CHANGED)
        return f"File created successfully at: {path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that a file has once."""
        path, files, old = check_path(command.path), self._files(), command.old_str
        text = self._read(path, files)
        matches = re.finditer(f"(?={re.escape(old)})", text)
        at = [text.count("\n", 0, match.start()) for match in matches]
        if not at:
            problem = f"old_str `{old}` did not appear verbatim in {path}."
            raise ToolError(f"No replacement was performed, {problem}")
        if len(at) > 1:
            lines = ", ".join(str(line + 1) for line in at)
            problem = f"Multiple occurrences of old_str `{old}` in lines: {lines}."
            raise ToolError(f"No replacement was performed. {problem} Please ensure it is unique")
        text = text.replace(old, command.new_str)
        self._write(files[path], text)
        shown = number(text.split("\n"), max(0, at[0] - 2), at[0] + 3)
        snippet = "Here is the snippet showing the change (with line numbers):"
        return f"The memory file has been edited. {snippet}\n{shown}"

    def insert(self, command: Any) -> str:
        """Insert lines after a line; 0: before the first."""
        path, files, place = check_path(command.path), self._files(), command.insert_line
        lines = self._read(path, files).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if not 0 <= place <= len(lines):
            problem = f"Invalid `insert_line` parameter: {place}."
            raise ToolError(f"{problem} It should be within the range [0, {len(lines)}].")
        lines.insert(place, command.insert_text.rstrip("\n"))
        self._write(files[path], "\n".join(lines).removesuffix("\n") + "\n")
        return f"The file {path} has been edited."

    def delete(self, command: Any) -> str:
        """Delete a file, or a directory with all that is in it; `restore` undoes it."""
        path = check_path(command.path)
        for place, note in find(self._files(), path, "delete").items():
            self.client.delete_note(note["id"])
            self.deleted[place] = note["id"]
        return f"Successfully deleted {path}"

    def rename(self, command: Any) -> str:
        """Give a file, or each file of a directory, another path."""
        old, files = check_path(command.old_path), self._files()
        problem = f"The destination {command.new_path} already exists"
        new = check_new(command.new_path, files, problem)
        for path, note in find(files, old, "rename").items():
            fields = name_file(new + path.removeprefix(old))
            self.client.change_note(note["id"], version=note["version"], changes=fields)
        return f"Successfully renamed {old} to {new}"

    def list_versions(self, path: str) -> list[NoteVersionOutput]:
        """Return what a file has said, newest first, with who wrote it and when."""
        return list(self.client.list_note_versions(self._files()[path]["id"]))

    def restore(self, path: str, version: int | None = None) -> None:
        """Undo changes of a file: write what it said in a version as its newest.

        Without a version: restore the file, which this tool has deleted.
        """
        if version is None:
            check_new(path, self._files(), f"File {path} already exists")
            self.client.restore_note(self.deleted.pop(path))
            return
        (earlier,) = (one for one in self.list_versions(path) if one["version"] == version)
        self._write(self._files()[path], read_text(earlier))

    def _files(self) -> Files:
        """Return the files of the user by path; of two that were made at once, the older."""
        notes = self.client.list_notes(user_id=self.user_id, tag=TAG, page_size=PAGE)
        return {note["source_path"] or "": note for note in notes}

    def _read(self, path: str, files: Files) -> str:
        if path in files:
            return read_text(self.client.get_note(files[path]["id"]))
        if path == ROOT or below(files, path):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _write(self, note: ListedNote, text: str) -> None:
        self.client.change_note(note["id"], version=note["version"], changes=keep_text(text))


class AsyncMemoryServerMemoryTool(BetaAsyncBuiltinFunctionTool):
    """The same for an `AsyncAnthropic`."""

    def __init__(self, tool: MemoryServerMemoryTool) -> None:
        """Run a tool in a thread."""
        self.tool = tool

    def to_dict(self) -> Any:
        """Return the tool's definition."""
        return self.tool.to_dict()

    async def call(self, input: object) -> Any:
        """Do what Claude asks for."""
        return await asyncio.to_thread(self.tool.call, input)


def check_path(path: str) -> str:
    """Return a path without needless slashes, or raise ToolError: it is outside of `/memories`."""
    parts = path.split("/")
    if parts[:2] != ["", "memories"]:
        raise ToolError(f"Path must start with /memories, got: {path}")
    if ".." in re.split(r"[/\\]", unquote(path)):
        raise ToolError(f"Path {path} would escape /memories directory")
    return "/" + "/".join(part for part in parts if part not in {"", "."})


def check_new(path: str, files: Files, problem: str) -> str:
    """Return a path at which nothing is, or raise ToolError."""
    path = check_path(path)
    if path == ROOT or below(files, path):
        raise ToolError(problem)
    if over := [one for one in files if path.startswith(f"{one}/")]:
        raise ToolError(f"The path {over[0]} is not a directory.")
    return path


def find(files: Files, path: str, verb: str) -> Files:
    """Return the file at a path, or those of a directory, or raise ToolError: there is none."""
    if path == ROOT:
        raise ToolError(f"Cannot {verb} the /memories directory itself")
    if not below(files, path):
        raise ToolError(f"The path {path} does not exist")
    return below(files, path)


def below(files: Files, path: str) -> Files:
    """Return the file at a path, or those of a directory."""
    return {place: note for place, note in files.items() if f"{place}/".startswith(f"{path}/")}


def name_file(path: str) -> dict[str, Any]:
    """Return the fields of a note that say where it is."""
    return {"source_path": path, "source_id": path[:ID_AT_MOST], "label": path[:LABEL_AT_MOST]}


def keep_text(text: str) -> dict[str, Any]:
    """Return the fields of a note that hold a text; a note's content is never blank."""
    kept = {} if text.strip() else {"blank": text}
    return {"content": BLANK if kept else text, "metadata": {"bytes": len(text.encode()), **kept}}


def read_text(note: NoteOutput | NoteVersionOutput) -> str:
    """Return the text of a file."""
    text, metadata = note["content"], note["metadata"]
    return str(metadata.get("blank", text)) if text == BLANK else text


def number(lines: Sequence[str], start: int, end: int) -> str:
    """Return lines with their numbers."""
    return "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(lines[start:end], start + 1))


def render_folder(path: str, files: Files) -> str:
    """Return what is in a directory, with sizes; of a directory that of all its files."""
    sizes = Counter({path: 0})
    for place, note in files.items():
        parts = place.removeprefix(f"{path}/").split("/")
        if not any(part.startswith(".") for part in parts):
            for depth in range(min(len(parts), DEPTH) + 1):
                end = "/" if 0 < depth < len(parts) else ""
                sizes["/".join([path, *parts[:depth]]) + end] += note["metadata"]["bytes"]
    levels = f"up to {DEPTH} levels deep in {path}, excluding hidden items:"
    rows = [f"{size / 1024:.1f}K\t{place}" for place, size in sorted(sizes.items())]
    return "\n".join([f"Here're the files and directories {levels}", *rows])

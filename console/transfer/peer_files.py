"""Reads the exports of other memory systems and of chat products, one record after another.

Each format is a function from one element of the file to neutral records. Nothing is added:
what a file does not say is empty.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import ijson

from episodic.models import Role
from memoryproject.edge.errors import Problem

MEMBERS = re.compile(r"(?:^|/)(?:conversations|memories|projects)[-\w]*\.json$")
"""What is read of a ZIP archive."""
WHOLE = ""
"""Instead of a key: the file itself is one element, if it has none of the keys before."""
MILLISECONDS_FROM = 100_000_000_000
"""Larger numbers than this are no seconds since 1970 but milliseconds."""
Row = Mapping[str, Any]


class Kind(StrEnum):
    """What a record becomes."""

    MESSAGE = "message"
    FACT = "fact"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Record:
    """One message, fact or note of a file.

    `conversation` is the source's name of where it belongs; empty: nowhere. `at` and `until` say
    when it was so. `identity` tells it from all others of the source where `source_id` does not.
    `lost` names what the file says of it and we have no place for.
    """

    kind: Kind
    source_id: str
    text: str
    conversation: str = ""
    at: datetime | None = None
    until: datetime | None = None
    role: str = Role.USER
    name: str = ""
    label: str = ""
    user_id: str = ""
    words: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""
    lost: tuple[str, ...] = ()


def read_mem0(row: Row) -> Iterator[Record]:
    """Yield a fact for a memory of Mem0, as `get_all` and its exports have them."""
    owners = [f"{key}/{row[key]}" for key in ("user_id", "agent_id", "run_id") if row.get(key)]
    text = _text(row.get("memory"))
    yield Record(
        Kind.FACT,
        str(row.get("id") or text),
        text,
        conversation="/".join(["mem0", *owners]),
        at=_time(row.get("created_at")),
        until=_time(row.get("expiration_date")),
        user_id=str(row.get("user_id") or ""),
        words=_words(row.get("categories")),
        metadata=_dict(row.get("metadata")),
        lost=_present(row, "metadata"),
    )


def read_zep(row: Row) -> Iterator[Record]:
    """Yield records for a thread, message, episode, node or edge of Zep or Graphiti."""
    owner = row.get("group_id") or row.get("graph_id") or row.get("user_id") or "graph"
    thread = row.get("thread_id") or row.get("session_id")
    if isinstance(row.get("messages"), list):
        for message in row["messages"]:
            yield from read_zep({"thread_id": thread, **message})
        return
    common: dict[str, Any] = {
        "source_id": str(row.get("uuid") or ""),
        "at": _time(row.get("valid_at") or row.get("created_at")),
        "conversation": f"zep/{owner}",
        "metadata": _dict(row.get("metadata") or row.get("attributes")),
    }
    if "fact" in row:
        until = _time(row.get("invalid_at") or row.get("expired_at"))
        lost = _present(row, "attributes", "source_node_uuid", "target_node_uuid", "episodes")
        yield Record(Kind.FACT, text=_text(row["fact"]), until=until, lost=lost, **common)
    elif "summary" in row:
        label, words = str(row.get("name") or ""), _words(row.get("labels"))
        yield Record(Kind.NOTE, text=_text(row["summary"]), label=label, words=words, **common)
    elif "content" in row and row.get("source", "message") == "message":
        # Version 2 has the kind of speaker in `role_type` and his name in `role`.
        role, name = row.get("role_type") or row.get("role"), row.get("name") or ""
        name = row.get("role") or "" if row.get("role_type") else name
        common["conversation"] = str(thread) if thread else common["conversation"]
        text = _text(row["content"])
        yield Record(Kind.MESSAGE, text=text, role=_role(role), name=str(name), **common)
    else:
        label = str(row.get("name") or row.get("source_description") or "")
        yield Record(Kind.NOTE, text=_text(row.get("content")), label=label, **common)


def read_letta(row: Row) -> Iterator[Record]:
    """Yield records for an agent, memory block or passage of a Letta agent file.

    Ids in such a file count within it, so identity is what was said, by whom and when.
    """
    if isinstance(row.get("messages"), list):
        home = f"letta/{row.get('name') or row.get('id')}"
        for message in row["messages"]:
            text = _unpack_letta(_text(message.get("content") or message.get("text")))
            at, role = _time(message.get("created_at")), _role(message.get("role"))
            identity = f"{home}:{at}:{role}:{text}"
            source_id, name = str(message.get("id") or ""), str(message.get("name") or "")
            yield Record(
                *(Kind.MESSAGE, source_id, text, home, at),
                role=role,
                name=name,
                identity=identity,
                lost=_present(message, "tool_calls"),
            )
        for block in row.get("core_memory") or []:
            yield from read_letta(block)
        return
    text = _text(row.get("value") or row.get("text"))
    label = str(row.get("label") or "")
    yield Record(
        *(Kind.NOTE, str(row.get("id") or label), text),
        at=_time(row.get("created_at")),
        label=label,
        words=_words(row.get("tags")),
        metadata=_dict(row.get("metadata")),
        identity=f"{label}:{text}",
    )


def _unpack_letta(text: str) -> str:
    """Return what a person said; Letta packs it into JSON, as it does its own events."""
    try:
        packed = json.loads(text) if text.startswith("{") else {}
    except ValueError:
        return text
    if packed.get("type") in {"login", "heartbeat", "system_alert"}:
        return ""
    return _text(packed["message"]) if packed.get("type") == "user_message" else text


def read_langmem(row: Row) -> Iterator[Record]:
    """Yield a record for an item of the LangGraph store in which LangMem keeps its memories."""
    value = _dict(row.get("value"))
    content = value.get("content", value)
    inner = content.get("content") if isinstance(content, dict) and len(content) == 1 else content
    is_text = isinstance(inner, str)
    names = row.get("namespace") or []
    place = names if isinstance(names, str) else "/".join(map(str, names))
    key = str(row.get("key") or "")
    yield Record(
        Kind.FACT if is_text else Kind.NOTE,
        key,
        str(inner) if is_text else json.dumps(content, ensure_ascii=False, indent=1),
        conversation=f"langmem/{place}",
        at=_time(row.get("created_at")),
        label="" if is_text else str(value.get("kind") or key),
        identity=f"{place}/{key}",
    )


def read_chatgpt(row: Row) -> Iterator[Record]:
    """Yield the messages of a ChatGPT conversation, from the first to the one shown last.

    What was edited away is a branch of its own, and left out.
    """
    nodes, place = _dict(row.get("mapping")), row.get("current_node")
    path: list[Row] = []
    while place in nodes and len(path) < len(nodes):
        path.append(nodes[place])
        place = nodes[place].get("parent")
    at = _time(row.get("create_time"))
    for node in reversed(path):
        message = _dict(node.get("message"))
        author, content = _dict(message.get("author")), _dict(message.get("content"))
        metadata = _dict(message.get("metadata"))
        if not message or metadata.get("is_visually_hidden_from_conversation"):
            continue
        at = _time(message.get("create_time")) or at
        yield Record(
            Kind.MESSAGE,
            str(message.get("id") or node.get("id")),
            _text(content.get("parts") or content.get("text")),
            conversation=str(row.get("conversation_id") or row.get("id")),
            at=at,
            role=_role(author.get("role")),
            name=str(author.get("name") or ""),
            metadata={"title": row["title"]} if row.get("title") else {},
        )


def read_claude(row: Row) -> Iterator[Record]:
    """Yield records for a conversation, a project or the memories of a Claude export."""
    home = str(row.get("uuid") or "")
    for message in row.get("chat_messages") or []:
        yield Record(
            Kind.MESSAGE,
            str(message.get("uuid")),
            _text(message.get("content")) or _text(message.get("text")),
            conversation=home,
            at=_time(message.get("created_at")),
            role=_role(message.get("sender")),
            metadata={"title": row["name"]} if row.get("name") else {},
            lost=_present(message, "attachments", "files"),
        )
    for document in row.get("docs") or []:
        source_id, label = str(document.get("uuid")), str(document.get("filename") or "")
        text, at = _text(document.get("content")), _time(document.get("created_at"))
        yield Record(Kind.NOTE, source_id, text, at=at, label=label)
    projects = _dict(row.get("project_memories"))
    memories = {"conversations": row.get("conversations_memory"), **projects}
    for name, memory in memories.items():
        text = _text(memory)
        if text:
            yield Record(Kind.NOTE, name, text, label=f"Memory: {name}", identity=f"{name}:{text}")


Reader = Callable[[Row], Iterator[Record]]
SOURCES: Mapping[str, tuple[Reader, Sequence[str]]] = {
    "mem0": (read_mem0, ("results", "memories")),
    "zep": (read_zep, ("threads", "messages", "episodes", "nodes", "edges")),
    "letta": (read_letta, ("agents", "blocks", "passages", WHOLE)),
    "langmem": (read_langmem, ("items",)),
    "chatgpt": (read_chatgpt, ("conversations",)),
    "claude": (read_claude, ("conversations", "projects", "memories")),
}
"""By the name of a source its reader, and the keys whose arrays hold what it reads."""


def read_records(path: Path, *, source: str) -> Iterator[Record]:
    """Yield what a JSON file, a file of JSON lines (`.jsonl`) or a ZIP archive holds, in order.

    One element of an array is in memory at a time.

    Raises:
        OSError: the file cannot be read.
        Problem: it is not JSON, or nothing in it is as the source writes it.
    """
    reader, keys = SOURCES[source]
    try:
        for file in _open_files(path):
            for row in _read_rows(file, keys, has_lines=path.suffix == ".jsonl"):
                if not isinstance(row, dict):
                    raise Problem("An element of the file is no object.")
                yield from reader(row)
    except (ValueError, RecursionError, ijson.JSONError, zipfile.BadZipFile) as error:
        raise Problem("The file is not valid JSON, or no archive.") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise Problem(f"The file is not an export of {source}.") from error


def _open_files(path: Path) -> Iterator[IO[bytes]]:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if MEMBERS.search(name)]
        if not names:
            raise Problem("The archive has no conversations.json.")
        for name in names:
            with closing(archive.open(name)) as member:
                yield member


def _read_rows(file: IO[bytes], keys: Sequence[str], *, has_lines: bool) -> Iterator[Any]:
    if has_lines:
        yield from (json.loads(line) for line in file if line.strip())
        return
    start = file.read(1_000).lstrip()
    prefixes = [key and f"{key}.item" for key in keys]
    has_rows = False
    for prefix in ["item"] if start.startswith(b"[") else prefixes:
        if prefix == WHOLE and has_rows:
            return
        file.seek(0)
        for row in ijson.items(file, prefix, use_float=True):
            has_rows = True
            yield row


def _text(value: Any) -> str:
    """Return a text, or the texts among parts of a message, each on lines of its own."""
    if isinstance(value, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in value)
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    return value if isinstance(value, str) else ""


def _time(value: Any) -> datetime | None:
    """Return a time from ISO 8601 or a number since 1970; None where it is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / (1000 if value > MILLISECONDS_FROM else 1), UTC)
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _role(value: Any) -> str:
    """Return who speaks, in our words; who is neither agent, system nor tool is a user."""
    known = {"human": Role.USER, "ai": Role.ASSISTANT, "function": Role.TOOL}
    name = str(value).lower()
    return name if name in Role.values else known.get(name, Role.USER)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _present(row: Row, *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if row.get(name))

"""Reads exports of other memory systems and chat products, one record at a time.

Each format is a function from one element of the file to neutral records. Nothing is added: missing
values are empty.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from episodic.models import Role
from semantic.curation import SENTENCE_AT_MOST
from wings.transfer.loading import to_uuid
from wings.transfer.row_files import WHOLE

MILLISECONDS_FROM = 100_000_000_000
"""Number above which a time is in milliseconds since 1970, not seconds."""
NAMESPACE = "memories/{user_id}"
"""Default namespace of memories in LangMem."""
ZEP_PARTS = ("threads", "messages", "episodes", "nodes", "edges")
ZEP_OWNERS = "user_id user_uuid group_id graph_id thread_id session_id source"
Row = Mapping[str, Any]


class Kind(StrEnum):
    """The kind of row that a record becomes."""

    MESSAGE = "message"
    FACT = "fact"
    NOTE = "note"


@dataclass(slots=True)
class Record:
    """One message, fact or note of a file; a fact too long for one sentence is a note.

    `conversation` is the source's name of its conversation, or empty. `user_id` and `agent_id` are
    its owners, or empty. `at` and `until` say when it was true. `identity` identifies it in the
    source if `source_id` does not. `lost` names fields that we cannot store, such as the metadata
    of a fact. `id` is ours, `place` its element in the file.
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
    agent_id: str = ""
    words: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""
    lost: tuple[str, ...] = ()
    id: uuid.UUID = field(init=False)
    place: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if self.kind is Kind.FACT and len(self.text) > SENTENCE_AT_MOST:
            self.kind = Kind.NOTE
        if self.kind is Kind.FACT:
            self.lost += tuple(f"metadata.{key}" for key in self.metadata)

    @property
    def home(self) -> uuid.UUID | None:
        """Our external id of the conversation; None: it has none."""
        return to_uuid(self.conversation) if self.conversation else None


def read_mem0(row: Row) -> Iterator[Record]:
    """Yield a fact for a memory of Mem0, from `get_all` or an export."""
    owners = [f"{key}/{row[key]}" for key in ("user_id", "agent_id", "run_id") if row.get(key)]
    columns = "source_id=id|memory text=memory at=created_at until=expiration_date user_id agent_id"
    columns += " words=categories metadata"
    yield _make(Kind.FACT, row, columns, reads="run_id", conversation="/".join(["mem0", *owners]))


def read_zep(row: Row) -> Iterator[Record]:
    """Yield records for a user, thread, message, episode, node or edge of Zep or Graphiti.

    Rows that the API lists for a user do not name the user, who may be in the enclosing element.
    """
    user = row.get("user_id") or row.get("user_uuid") or row.get("group_id") or ""
    owner = row.get("group_id") or row.get("graph_id") or user or "graph"
    thread, home = row.get("thread_id") or row.get("session_id"), f"zep/{owner}"
    parts = [part for key in ZEP_PARTS for part in row.get(key) or ()]
    if parts and "fact" not in row:  # an edge has episodes, too: their ids
        thread = thread or (row.get("messages") and row.get("uuid"))
        for part in parts:
            yield from read_zep({"user_id": user, "thread_id": thread, **part})
        return
    common = "source_id=uuid at=valid_at|created_at metadata=metadata|attributes"
    own = {"reads": ZEP_OWNERS, "conversation": home, "user_id": str(user)}
    if "fact" in row:
        yield _make(Kind.FACT, row, f"{common} text=fact until=invalid_at|expired_at", **own)
    elif "summary" in row:
        yield _make(Kind.NOTE, row, f"{common} text=summary label=name words=labels", **own)
    elif "content" in row and row.get("source", "message") == "message":
        # Version 2 has the kind of speaker in `role_type` and his name in `role`.
        speaker = "role=role_type name=role" if row.get("role_type") else "role name"
        own["conversation"] = str(thread) if thread else home
        yield _make(Kind.MESSAGE, row, f"{common} text=content {speaker}", **own)
    else:
        yield _make(Kind.NOTE, row, f"{common} text=content label=name|source_description", **own)


def read_letta(row: Row) -> Iterator[Record]:
    """Yield records for an agent, memory block or passage of a Letta agent file.

    Ids in such a file are only unique within it, so text, speaker and time identify a record.
    """
    if isinstance(row.get("messages"), list):
        agent = str(row.get("name") or row.get("id"))
        own = {"conversation": f"letta/{agent}", "agent_id": agent}
        columns = "source_id=id text=content|text at=created_at role name"
        for message in row["messages"]:
            lost = _present(message, "tool_calls")
            record = _make(Kind.MESSAGE, message, columns, lost=lost, **own)
            text = _unpack_letta(record.text)
            identity = f"letta/{agent}:{record.at}:{record.role}:{text}"
            yield replace(record, text=text, identity=identity)
        for block in row.get("core_memory") or []:
            yield from read_letta(block)
        return
    columns = "source_id=id|label text=value|text at=created_at label words=tags metadata"
    record = _make(Kind.NOTE, row, columns, lost=())
    yield replace(record, identity=f"{record.label}:{record.text}")


def _unpack_letta(text: str) -> str:
    """Return a person's text; Letta packs it into JSON, like its own events."""
    try:
        packed = json.loads(text) if text.startswith("{") else {}
    except ValueError:
        return text
    if packed.get("type") in {"login", "heartbeat", "system_alert"}:
        return ""
    return _text(packed["message"]) if packed.get("type") == "user_message" else text


def read_langmem(row: Row, namespace: str = NAMESPACE) -> Iterator[Record]:
    """Yield a record for an item of LangMem's LangGraph store.

    `namespace` shows the positions of `{user_id}`, and maybe `{agent_id}`, in an item's namespace.
    An item whose namespace begins differently has no user.
    """
    value = _dict(row.get("value"))
    content = value.get("content", value)
    inner = content.get("content") if isinstance(content, dict) and len(content) == 1 else content
    is_text = isinstance(inner, str)
    names = row.get("namespace") or str(row.get("prefix") or "").split(".")  # as PostgreSQL's table
    place = names if isinstance(names, str) else "/".join(map(str, names))
    pattern = re.sub(r"\\{(user_id|agent_id)\\}", r"(?P<\1>[^/]+)", re.escape(namespace))
    match = re.match(rf"{pattern}(?:/|$)", place)
    owners: dict[str, Any] = match.groupdict() if match else {}
    yield Record(
        Kind.FACT if is_text else Kind.NOTE,
        key := str(row.get("key") or ""),
        str(inner) if is_text else json.dumps(content, ensure_ascii=False, indent=1),
        conversation=f"langmem/{place}",
        at=_time(row.get("created_at")),
        label="" if is_text else str(value.get("kind") or key),
        identity=f"{place}/{key}",
        lost=() if content is value else _present(value, *(value.keys() - {"content", "kind"})),
        **owners,
    )


def read_chatgpt(row: Row) -> Iterator[Record]:
    """Yield the messages of a ChatGPT conversation, from the first to the last one shown.

    Text replaced by editing is in another branch, and left out.
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
        yield _make(
            Kind.MESSAGE,
            {"source_id": message.get("id") or node.get("id"), **content, **author},
            "source_id text=parts|text role name",
            conversation=str(row.get("conversation_id") or row.get("id")),
            at=at,
            metadata={"title": row["title"]} if row.get("title") else {},
        )


def read_claude(row: Row) -> Iterator[Record]:
    """Yield records for a conversation, a project or the memories of a Claude export."""
    home = str(row.get("uuid") or "")
    for message in row.get("chat_messages") or []:
        yield _make(
            Kind.MESSAGE,
            message,
            "source_id=uuid at=created_at role=sender",
            text=_text(message.get("content")) or _text(message.get("text")),
            conversation=home,
            metadata={"title": row["name"]} if row.get("name") else {},
            lost=_present(message, "attachments", "files"),
        )
    for document in row.get("docs") or []:
        yield _make(Kind.NOTE, document, "source_id=uuid text=content at=created_at label=filename")
    projects = _dict(row.get("project_memories"))
    memories = {"conversations": row.get("conversations_memory"), **projects}
    for name, memory in memories.items():
        text = _text(memory)
        if text:
            yield Record(Kind.NOTE, name, text, label=f"Memory: {name}", identity=f"{name}:{text}")


Reader = Callable[[Row], Iterator[Record]]
SOURCES: Mapping[str, tuple[Reader, Sequence[str]]] = {
    "mem0": (read_mem0, ("results", "memories")),
    "zep": (read_zep, ("users", *ZEP_PARTS)),
    "letta": (read_letta, ("agents", "blocks", "passages", WHOLE)),
    "langmem": (read_langmem, ("items",)),
    "chatgpt": (read_chatgpt, ("conversations",)),
    "claude": (read_claude, ("conversations", "projects", "memories")),
}
"""By source: its reader, and the keys of the arrays that it reads."""


def _make(kind: Kind, row: Row, columns: str, *, reads: str = "", **own: Any) -> Record:
    """Return a record with the fields of a row, and some more.

    `columns` are pairs `ours=theirs`, separated by spaces; of `theirs|others` the first value that
    is not empty counts. Other values of the row count as lost, except keys in `reads`, which the
    reader uses; a `lost` of the record overrides this.
    """
    values, known = {}, {*reads.split()}
    for column in columns.split():
        name, _, theirs = column.partition("=")
        keys = (theirs or name).split("|")
        said = [row[key] for key in keys if row.get(key)]
        values[name] = READ_AS.get(name, str)(said[0] if said else "")
        known.update(keys)
    lost = _present(row, *(key for key in row if key not in known))
    return Record(kind, **{"lost": lost, **values, **own})


def _text(value: Any) -> str:
    """Return a text, or the texts among a message's parts, each on its own lines."""
    if isinstance(value, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in value)
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    return value if isinstance(value, str) else ""


def _time(value: Any) -> datetime | None:
    """Return a time from ISO 8601 or a number since 1970; None if it is invalid."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / (1000 if value > MILLISECONDS_FROM else 1), UTC)
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _role(value: Any) -> str:
    """Return the speaker's role in our terms; unknown roles are users."""
    known = {"human": Role.USER, "ai": Role.ASSISTANT, "function": Role.TOOL}
    name = str(value).lower()
    return name if name in Role.values else known.get(name, Role.USER)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _present(row: Row, *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if row.get(name))


READ_AS: Mapping[str, Callable[[Any], Any]] = {
    "text": _text, "at": _time, "until": _time, "role": _role, "words": _words, "metadata": _dict,
}  # fmt: skip
"""Readers of a record's fields; all other fields are texts."""

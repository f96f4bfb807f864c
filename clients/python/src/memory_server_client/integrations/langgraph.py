"""A LangGraph store whose items are notes of the memory server."""

from __future__ import annotations

import asyncio
import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from itertools import islice
from threading import Lock
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from memory_server_client import Client, Conflict, NotFound
from memory_server_client.types import ListedNote

PAGE = 200
FOUND_AT_MOST = 100
"""What one search of the server returns."""
TAG_AT_MOST, SOURCE_ID_AT_MOST = 100, 255
WRITES_AT_MOST = 5
LOCKS = 64
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class MemoryServerStore(BaseStore):
    """Keeps each item as a note: found by keywords and meaning, with versions, seen in the admin.

    A query ranks by the server's relevance, 0 to 1. Filters on values are applied here: with a
    query to the best 100 notes of the namespace, without one to all of them, page by page.
    """

    supports_ttl = False

    def __init__(
        self, client: Client, *, name: str = "langgraph", index_fields: Sequence[str] = ("$",)
    ) -> None:
        """Keep items in the tenant of the client's key.

        Args:
            name: stores of different names share no items.
            index_fields: paths into values whose texts items are found by, where `put` names
                none; `$` is the whole value.
        """
        self.client = client
        self.name = name
        self.index_fields = index_fields
        # An item is looked up, then written: threads that put the same one take turns.
        self._locks = [Lock() for _ in range(LOCKS)]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do one operation after the other; each sees what those before it have put."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            note = next(self._notes_at(op.namespace, op.key), None)
            return None if note is None else Item(**read_item(note))
        if isinstance(op, PutOp):
            with self._locks[hash(self._place(op.namespace, op.key)) % LOCKS]:
                if op.value is None:
                    self._delete(op)
                else:
                    self._put(op, dict(op.value))
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise ValueError(f"Unknown operation: {type(op).__name__}.")

    def _notes_at(self, namespace: Sequence[str], key: str) -> Iterator[ListedNote]:
        """Yield the notes of an item, newest first: one, unless two processes began it at once."""
        return self.client.list_notes(source_type="note", source_id=self._place(namespace, key))

    def _notes_below(self, prefix: Sequence[str]) -> Iterator[ListedNote]:
        """Yield the notes of a namespace and those below it, newest first."""
        return self.client.list_notes(source_type="note", tag=self._tag(prefix), page_size=PAGE)

    def _place(self, namespace: Sequence[str], key: str) -> str:
        return encode([self.name, *namespace, key], SOURCE_ID_AT_MOST)

    def _tag(self, prefix: Sequence[str]) -> str:
        return encode([self.name, *prefix], TAG_AT_MOST)

    def _put(self, op: PutOp, value: dict[str, Any]) -> None:
        now = datetime.now(timezone.utc).isoformat()
        for attempt in range(1, WRITES_AT_MOST + 1):
            note = next(self._notes_at(op.namespace, op.key), None)
            created_at = note["metadata"]["created_at"] if note else now
            fields: dict[str, Any] = {
                "content": self._text(op, value) or op.key,
                "occurred_at": now,
                "metadata": {
                    "namespace": list(op.namespace),
                    "key": op.key,
                    "value": value,
                    "created_at": created_at,
                },
            }
            try:
                if note:
                    self.client.change_note(note["id"], version=note["version"], changes=fields)
                else:
                    ends = range(len(op.namespace) + 1)
                    self.client.add_note(
                        source_id=self._place(op.namespace, op.key),
                        tags=[self._tag(op.namespace[:end]) for end in ends],
                        **fields,
                    )
                return
            except (Conflict, NotFound):  # somebody has written or deleted it since
                if attempt == WRITES_AT_MOST:
                    raise

    def _text(self, op: PutOp, value: dict[str, Any]) -> str:
        """Return what an item is found by."""
        if op.index is False:
            return ""
        paths = self.index_fields if op.index is None else op.index
        return "\n".join(text for path in paths for text in get_text_at_path(value, path))

    def _delete(self, op: PutOp) -> None:
        for note in list(self._notes_at(op.namespace, op.key)):
            try:
                self.client.delete_note(note["id"])
            except NotFound:
                continue

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.filter or {}
        query = (op.query or "").strip()
        if query:
            answer = self.client.search(
                query,
                source_types=["note"],
                tag=self._tag(op.namespace_prefix),
                max_results=FOUND_AT_MOST if wanted else min(op.offset + op.limit, FOUND_AT_MOST),
            )
            notes: Iterable[Any] = answer["items"]
        else:
            notes = self._notes_below(op.namespace_prefix)
        passing = (note for note in notes if matches(note["metadata"]["value"], wanted))
        return [
            SearchItem(**read_item(note), score=note.get("relevance"))
            for note in islice(passing, op.offset, op.offset + op.limit)
        ]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {
            tuple(note["metadata"]["namespace"])[: op.max_depth]
            for note in self._notes_below(fixed_prefix(conditions))
            if all(fits(note["metadata"]["namespace"], one) for one in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def encode(path: Sequence[str], at_most: int) -> str:
    """Return a path as one text: JSON, or its digest where that is too long."""
    text = json.dumps(list(path), ensure_ascii=False)
    return text if len(text) <= at_most else hashlib.sha256(text.encode()).hexdigest()


def read_item(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an `Item` from a note or a result of a search."""
    kept = note["metadata"]
    return {
        "value": kept["value"],
        "key": kept["key"],
        "namespace": tuple(kept["namespace"]),
        "created_at": datetime.fromisoformat(kept["created_at"]),
        "updated_at": datetime.fromisoformat(note["occurred_at"].replace("Z", "+00:00")),
    }


def matches(value: Any, wanted: Any) -> bool:
    """Return whether a value has what a filter wants: equal parts, or operators such as `$gt`."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(compare(value, name, other) for name, other in wanted.items())
    return isinstance(value, Mapping) and all(
        matches(value.get(name), other) for name, other in wanted.items()
    )


def compare(value: Any, name: str, other: Any) -> bool:
    """Return whether an operator holds; what cannot be ordered is neither more nor less.

    Raises:
        ValueError: there is no such operator.
    """
    if name not in OPERATORS:
        raise ValueError(f"A filter knows {', '.join(OPERATORS)}, and not {name}.")
    try:
        return OPERATORS[name](value, other)
    except TypeError:
        return False


def fits(namespace: Sequence[str], condition: MatchCondition) -> bool:
    """Return whether a namespace begins or ends as a condition says; `*` is any one label."""
    path, size = condition.path, len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[-size:]
    return len(part) == size and all(
        wanted in ("*", label) for wanted, label in zip(path, part, strict=True)
    )


def fixed_prefix(conditions: Iterable[MatchCondition]) -> list[str]:
    """Return the labels that every namespace begins with, which the server can look up."""
    for condition in conditions:
        if condition.match_type == "prefix":
            labels = list(condition.path)
            return labels[: labels.index("*")] if "*" in labels else labels
    return []

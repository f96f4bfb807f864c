"""Every place of the API where an id goes, read from its description, and calls that fill it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.generators import SchemaGenerator

PREFIX = "/api/v0/"
METHODS = ("get", "post", "put", "patch", "delete")
NAMES_AN_OBJECT = re.compile(r"(?:^|[_.-])(?:id|ids|key|match)(?:\.\[\])?$", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where one call takes an id: `where` is path, query, header or body, `name` is dotted."""

    method: str
    route: str
    where: str
    name: str

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.where} {self.name}"

    @property
    def call(self) -> str:
        return f"{self.method} {self.route}"

    @property
    def word(self) -> str:
        """Return the name of the field itself."""
        return self.name.removesuffix(".[]").split(".")[-1]


def read_places() -> list[Place]:
    """Return all places, in the order of the description."""
    described = SchemaGenerator().get_schema(request=None, public=True)
    schemas = described["components"]["schemas"]
    return [
        Place(method.upper(), path.removeprefix(PREFIX), where, name)
        for path, operations in described["paths"].items()
        for method in METHODS
        if method in operations
        for where, name in _read_operation(operations[method], schemas)
    ]


def read_calls() -> set[str]:
    """Return every call with a body: its method and route."""
    described = SchemaGenerator().get_schema(request=None, public=True)
    return {
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, operations in described["paths"].items()
        for method in METHODS
        if "requestBody" in operations.get(method, {})
    }


def _read_operation(operation: Mapping[str, Any], schemas: Any) -> Iterator[tuple[str, str]]:
    for parameter in operation.get("parameters", []):
        name, schema = parameter["name"], parameter["schema"]
        is_cursor = name == "after" and schema.get("type") == "string"
        if parameter["in"] == "path" or is_cursor or _names_an_object(name, schema):
            yield parameter["in"], name
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for name, schema in _leaves(content["schema"], schemas, ()):
            if _names_an_object(name, schema):
                yield "body", name


def _names_an_object(name: str, schema: Mapping[str, Any]) -> bool:
    return schema.get("format") == "uuid" or bool(NAMES_AN_OBJECT.search(name))


def _leaves(
    schema: Mapping[str, Any], schemas: Any, path: tuple[str, ...]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the dotted name of each value that a body can hold, `[]` for those of a list."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].split("/")[-1]]
    inner = [one for word in ("allOf", "oneOf", "anyOf") for one in schema.get(word, [])]
    for one in inner:
        yield from _leaves(one, schemas, path)
    for name, one in schema.get("properties", {}).items():
        yield from _leaves(one, schemas, (*path, name))
    if "items" in schema:
        yield from _leaves(schema["items"], schemas, (*path, "[]"))
    if not inner and "properties" not in schema and "items" not in schema:
        yield ".".join(path), schema


Ids = Mapping[str, list[str]]
"""What somebody owns, by kind: ids, and names that only he uses."""
SINCE = "2020-01-01T00:00:00Z"
QUERY = "Where does the canal lead?"
TALK = "conversation_id"
SHARED = {"scope": "user"}
SPAN = {"span_id": "page 1", "start_byte": 0, "end_byte": 10}


def fresh() -> str:
    return str(uuid.uuid4())


def asks(**more: Any) -> Callable[[Ids], dict[str, Any]]:
    return lambda own: {"query": QUERY, **more}


BODIES: dict[str, Callable[[Ids], dict[str, Any]]] = {
    "POST add_message": lambda own: {TALK: fresh(), "message": {"role": "user", "content": "Hi."}},
    "POST add_messages": lambda own: {
        TALK: fresh(),
        "messages": [{"role": "user", "content": "Hi."}],
    },
    "POST flush": lambda own: {TALK: own["talk"][0]},
    "POST forget": lambda own: {"fact_ids": [own["fact"][0]]},
    "POST ask": lambda own: {
        "query": QUERY,
        TALK: own["talk"][0],
        **SHARED,
        "min_relevance": 0,
    },
    "POST changesets/{changeset_id}/revert": lambda own: {"reason": "Why not?"},
    "POST context_pre_retrieve": lambda own: {"query": QUERY, TALK: own["talk"][0], **SHARED},
    "POST contexts": lambda own: {"max_tokens": 500},
    "POST contexts/{context_id}/add": lambda own: {"memory_id": own["note"][0]},
    "POST erasures": lambda own: {"scope": "note", "id": own["note"][0], "reason": "Why not?"},
    "POST facts/{fact_id}/approve": lambda own: {"reason": "Why not?"},
    "POST facts/{fact_id}/correct": lambda own: {"reason": "Why not?", "fact": "Sam is a sailor."},
    "POST facts/{fact_id}/invalidate": lambda own: {"reason": "Why not?", "because": "wrong"},
    "POST facts/{fact_id}/marks": lambda own: {
        "reason": "Why not?",
        "decision": "drop",
        "mark_ids": [own["mark"][0]],
    },
    "POST memory_tests": lambda own: {"query": QUERY, TALK: own["talk"][0], "must_say": ["boat"]},
    "POST facts/{fact_id}/reject": lambda own: {"reason": "Why not?"},
    "POST facts/{fact_id}/restore": lambda own: {"reason": "Why not?"},
    "PUT instructions": lambda own: {"keep": ["boats"], "never": [], "words": []},
    "POST instructions/undo": lambda own: {},
    "POST instructions/preview": lambda own: {"text": "I sail to the sea."},
    "POST links": lambda own: {"from_id": own["note"][0], "to_id": own["fact"][0]},
    "POST memories/{memory_id}/chunk": lambda own: {"max_tokens": 100},
    "POST notes": lambda own: {"content": "A note of mine.", "span": SPAN},
    "POST notes/batch": lambda own: {"notes": [{"content": "A note of mine.", "span": SPAN}]},
    "PATCH notes/{note_id}": lambda own: {"version": 1, "label": "Mine", "span": SPAN},
    "POST people": lambda own: {"name": "Sam", "user_ids": [fresh()], "speakers": [fresh()]},
    "POST people/{person_id}/merge": lambda own: {
        "into_id": own["person"][1],
        "reason": "Why not?",
    },
    "POST people/{person_id}/unmerge": lambda own: {"reason": "Why not?"},
    "POST conversations/{conversation_id}/user": lambda own: {"user_id": fresh()},
    "POST recent_memory": lambda own: {TALK: own["talk"][0], **SHARED},
    "POST recent_memory/raw": lambda own: {TALK: own["talk"][0], **SHARED},
    "POST reconstruct_context": asks(focus_level=5),
    "POST retrieve_memory": lambda own: {"query": QUERY, TALK: own["talk"][0], **SHARED},
    "POST retrieve_memory/raw": lambda own: {"query": QUERY, TALK: own["talk"][0], **SHARED},
    "POST rollbacks": lambda own: {"reason": "Why not?", "since": SINCE, TALK: own["talk"][0]},
    "POST rollbacks/{rollback_id}/lift": lambda own: {"reason": "Why not?"},
    "POST search": asks(max_hops=2),
    "POST suggestions/{suggestion_id}/accept": lambda own: {"reason": "Why not?"},
    "POST suggestions/{suggestion_id}/decline": lambda own: {},
    "POST webhooks": lambda own: {"url": "https://example.com/memory"},
}
"""A body for each call that takes one: what it must hold, and ids of the caller's own."""
MEMORIES = ("fact", "episode", "note")
KINDS: dict[str, tuple[str, ...]] = {
    "conversation_id": ("talk", "conversation"),
    "asked_in": ("talk", "conversation"),
    "message_id": ("message",),
    "episode_id": ("episode",),
    "fact_id": ("fact",),
    "fact_ids": ("fact",),
    "note_id": ("note", "fact"),
    "memory_id": (*MEMORIES, "conversation"),
    "from_id": MEMORIES,
    "to_id": MEMORIES,
    "link_id": ("link",),
    "context_id": ("context",),
    "changeset_id": ("changeset",),
    "retrieval_id": ("retrieval",),
    "job_id": ("job",),
    "key_id": ("key",),
    "rollback_id": ("rollback",),
    "suggestion_id": ("suggestion",),
    "mark_ids": ("mark",),
    "test_id": ("memory_test",),
    "case_id": ("retrieval",),
    "erasure_id": ("erasure",),
    "webhook_id": ("webhook",),
    "event_id": ("event",),
    "user_id": ("user",),
    "user_ids": ("user",),
    "person_id": ("person",),
    "into_id": ("person",),
    "agent_id": ("agent",),
    "source_id": ("source",),
    "source_ids": ("source", "talk"),
    "span_id": ("source",),
    "external_id": ("source",),
    "tool_call_id": ("source",),
    "Idempotency-Key": ("client_key",),
}
"""What kinds of a stranger's names are tried, by the word of the field."""
CURSORS: dict[str, str] = {
    "GET changesets": "changeset",
    "GET conversations": "conversation",
    "GET episodes": "episode",
    "GET erasures": "erasure",
    "GET facts": "fact",
    "GET instructions/versions": "instructions",
    "GET memory_tests": "memory_test",
    "GET notes": "note",
    "GET people": "person",
    "GET people/{person_id}/export": "message",
    "GET retrievals": "retrieval",
    "GET rollbacks": "rollback",
    "GET suggestions": "suggestion",
    "GET webhooks": "webhook",
    "GET webhooks/{webhook_id}/events": "event",
    "GET memories/{memory_id}/links": "end",
}
"""What the cursor of each list is made of."""
ERASED = {"message": "message", "conversation": "talk", "note": "note", "user": "user",
          "person": "person", "retention": "policy", "tenant": "tenant"}  # fmt: skip
"""What is named to be erased, by the scope of the erasure."""


def kinds_of(place: Place) -> tuple[str, ...]:
    """Return the kinds of names that are tried in a place; none where nobody has said."""
    if place.word == "after":
        return (CURSORS[place.call],) if place.call in CURSORS else ()
    if place.call == "POST erasures" and place.word == "id":
        return tuple(ERASED.values())
    return KINDS.get(place.word, ())


def neighbour(name: str) -> str:
    """Return a name that nobody has, of the same form, and at the same place in any order."""
    first, dot, rest = name.partition(".")
    try:
        return str(uuid.UUID(int=uuid.UUID(first).int ^ 1)) + dot + rest
    except ValueError:
        return f"{name}~"


def fill(place: Place, name: str, *, kind: str, own: Ids) -> dict[str, Any]:
    """Return the call with `name` in one place and the caller's own ids in all others."""
    slots = re.findall(r"\{(\w+)\}", place.route)
    given = {slot: own[KINDS[slot][0]][0] for slot in slots}
    body = BODIES[place.call](own) if place.call in BODIES else None
    query, headers = {}, {}
    if place.call == "GET messages":  # which needs it, whatever else is asked
        query["conversation_id"] = own["talk"][0]
    if place.where == "path":
        given[place.name] = name
    elif place.where == "query":
        query[place.name] = name
    elif place.where == "header":
        headers[place.name] = name
    else:
        body = _put(body, place.name.split("."), name)
    if body is not None and place.call == "POST erasures" and place.word == "id":
        body["scope"] = next(scope for scope, one in ERASED.items() if one == kind)
    return {
        "method": place.method,
        "path": PREFIX + place.route.format(**given),
        "query": query,
        "headers": headers,
        "body": body,
    }


def _put(holder: Any, path: list[str], name: str) -> Any:
    if not path:
        return name
    if path[0] == "[]":
        return [_put(holder[0] if holder else None, path[1:], name)]
    holder = dict(holder or {})
    holder[path[0]] = _put(holder.get(path[0]), path[1:], name)
    return holder

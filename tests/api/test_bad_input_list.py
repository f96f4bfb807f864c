"""Each kind of bad input at each address that takes any, as the API's description lists them."""

from __future__ import annotations

import gzip
import json
import re
import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from tests.api.problems import assert_problem
from tests.ask.conftest import model as model
from tests.ask.conftest import tell_all
from tests.conftest import Agent
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db

ID = "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"
METHODS = ("get", "post", "put", "patch", "delete")
NESTED = b"[" * 10_000 + b"]" * 10_000

BODIES: list[tuple[str, bytes, int, str]] = [
    ("nothing", b"", 400, "invalid"),
    ("no object", b"[]", 400, "invalid"),
    ("null", b"null", 400, "invalid"),
    ("a number", b"1", 400, "invalid"),
    ("no JSON", b"{", 400, "parse_error"),
    ("NUL, escaped", rb'{"x": "\u0000"}', 400, "parse_error"),
    ("NUL in a name", rb'{"\u0000": 1}', 400, "parse_error"),
    ("NUL itself", b'{"x": "\0"}', 400, "parse_error"),
    ("half a surrogate pair", rb'{"x": "\ud800"}', 400, "parse_error"),
    ("invalid UTF-8", b'{"x": "\xff"}', 400, "parse_error"),
    ("a byte order mark", b"\xef\xbb\xbf{}", 400, "parse_error"),
    ("1e400", b'{"x": 1e400}', 400, "parse_error"),
    ("NaN", b'{"x": NaN}', 400, "parse_error"),
    ("Infinity", b'{"x": -Infinity}', 400, "parse_error"),
    ("a name twice", b'{"x": 1, "x": 2}', 400, "parse_error"),
    ("10,000 deep", b'{"x": ' + NESTED + b"}", 400, "parse_error"),
    ("compressed", gzip.compress(b"{}"), 400, "parse_error"),
    ("an unknown field", b'{"x_unknown": 1}', 400, "invalid"),
    ("an empty name", b'{"": 1}', 400, "invalid"),
    ("over the cap", b" " * (settings.MAX_BODY_BYTES + 1), 413, "too_large"),
]
TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
WRONG: dict[str, list[Any]] = {
    "string": [1, True, [], {}],
    "integer": [True, "1", 1.5, 1e300, [], {}],
    "number": [True, "1", 10**400, [], {}],
    "boolean": [0, 1, "true", [], {}],
    "array": ["x", 1, {}, True],
    "object": ["x", 1, [], True],
}
"""By the type that a field has: what is none."""
QUERIES = [
    "& | !", "a & | b", "!!!", "<->", "a:*", "'", "'' ' \\", "\\", "%", "_", "%_%", "(", "(a+)+$",
    "((((((((((a*)*)*)*)*)*)*)*)*)*b" + "a" * 60, "'; DROP TABLE x; --", "$1 %s %(x)s {} {{}}",
    "\u202e\u200b", "👩‍👩‍👧‍👦", "a" * 60_000, "* *", "\x01\x02 x", "ẞ" * 500,
]  # fmt: skip


@cache
def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Return triples (method, path, operation) of all that needs a key."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    paths: dict[str, dict[str, Any]] = schema["paths"]
    return [
        (method, path, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if method in METHODS and "security" in operation
    ]


@cache
def components() -> dict[str, Any]:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    found: dict[str, Any] = schema["components"]["schemas"]
    return found


def taking_bodies() -> list[tuple[str, str, dict[str, Any]]]:
    return [one for one in operations() if "requestBody" in one[2]]


def address(path: str, value: str = ID) -> str:
    return re.sub(r"{\w+}", value, path)


def send(agent: Agent, method: str, path: str, body: bytes, content_type: str) -> Any:
    return agent.client.generic(method.upper(), path, body, content_type=content_type)


def counted(agent: Agent) -> dict[str, int]:
    """Return how many rows the tenant has of everything that a call may make."""
    lists = ("facts", "episodes", "retrievals", "changesets", "notes")
    return {call: len(agent.get(call).json()["items"]) for call in lists}


@pytest.mark.parametrize(
    ("body", "status", "code"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES]
)
def test_no_call_takes_a_bad_body(ana: Agent, body: bytes, status: int, code: str) -> None:
    assert len(taking_bodies()) > 15
    for method, path, _ in taking_bodies():
        answer = send(ana, method, address(path), body, "application/json")
        if answer.status_code == 404 and "{" in path:  # what it names is looked up first
            assert_problem(answer, 404)
            continue
        if path.endswith(("/approve", "/reject", "/lift", "/retry", "/undo")) and not body.strip():
            continue
        assert assert_problem(answer, status)["code"] == code, (method, path)
    assert set(counted(ana).values()) == {0}


@pytest.mark.parametrize("content_type", TYPES)
def test_no_call_takes_another_content_type(ana: Agent, content_type: str) -> None:
    for method, path, _ in taking_bodies():
        answer = send(ana, method, address(path), b'{"x": 1}', content_type)
        if answer.status_code == 404 and "{" in path:
            continue
        assert assert_problem(answer, 415)["code"] == "unsupported_media_type", (method, path)


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without references to components around it."""
    while "$ref" in schema or len(schema.get("allOf", [])) == 1:
        inner = schema["$ref"].rpartition("/")[2] if "$ref" in schema else None
        schema = components()[inner] if inner else schema["allOf"][0]
    return schema


def fields_of(operation: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    """Yield the fields of a body with their types; none of those that take several shapes."""
    body = resolve(operation["requestBody"]["content"]["application/json"]["schema"])
    for name, described in body.get("properties", {}).items():
        kind = resolve(described).get("type")
        if kind:
            yield name, {kind} if isinstance(kind, str) else set(kind)


def test_a_field_of_another_type_is_named_by_every_call(ana: Agent) -> None:
    tried = 0
    for method, path, operation in taking_bodies():
        for name, kinds in fields_of(operation):
            (kind, *_) = sorted(kinds - {"null"})
            for wrong in WRONG[kind]:
                body = json.dumps({name: wrong}).encode()
                answer = send(ana, method, address(path), body, "application/json")
                if answer.status_code == 404 and "{" in path:
                    continue
                named = assert_problem(answer, 400)["fields"]
                assert any(field.split(".")[0] == name for field in named), (path, name, wrong)
                tried += 1
    assert tried > 300
    assert set(counted(ana).values()) == {0}


def test_no_path_takes_what_is_no_id(ana: Agent) -> None:
    wrong = ["x", "1", ID[:-1], f"{{{ID}}}", ID.replace("-", ""), "%00", "%ED%A0%80", "%FF", "..",
             "' OR 1=1 --", "a" * 5_000, f"urn:uuid:{ID}", ID + "%0A", "%F0%9F%91%A9"]  # fmt: skip
    for method, path, _ in operations():
        for value in wrong if "{" in path else []:
            answer = send(ana, method, address(path, value), b"{}", "application/json")
            if takes_names(path) and answer.status_code in {200, 400}:
                continue  # anything may be somebody's name; of nobody nothing is known
            assert answer.status_code in {404, 405}, (method, path, value, answer.status_code)
            assert_problem(answer, answer.status_code)


def takes_names(path: str) -> bool:
    """Return whether a path names somebody by the caller's own id."""
    return "{user_id}" in path or "{agent_id}" in path


def test_no_query_string_takes_what_it_does_not_know(ana: Agent) -> None:
    listed = [
        (path, operation)
        for method, path, operation in operations()
        if method == "get" and any(one["in"] == "query" for one in operation.get("parameters", []))
    ]
    assert len(listed) > 8
    for path, operation in listed:
        names = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
        for name in [*names, "sort", "page", "order_by", "offset"]:
            for wrong in ("\0", b"\xed\xa0\x80", "x\0y"):
                answer = ana.client.get(address(path), {name: wrong})
                assert answer.status_code in {200, 400, 404}, (path, name, wrong)
                if answer.status_code == 400:
                    named = assert_problem(answer, 400)["fields"]
                    assert name in named or "conversation_id" in named  # which messages need
        for name in ("sort", "page", "order_by", "offset", "\0"):
            answer = ana.client.get(address(path), {name: "-1"})
            assert answer.status_code in {400, 404}, (path, name)
        for name, wrong in (("limit", "0"), ("limit", "-1"), ("limit", str(10**12))):
            if name in names:
                answer = ana.client.get(address(path), {name: wrong})
                assert answer.status_code in {400, 404}, (path, name, wrong)


@pytest.mark.gate
@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_any_words_may_be_asked(ana: Agent, query: str, request: pytest.FixtureRequest) -> None:
    conversation = uuid.uuid4()
    ana.say(conversation, f"I wrote this down: {query[:2_000]}")
    ana.flush(conversation)
    request.getfixturevalue("model").always("ask", tell_all)
    body = {"query": query, "conversation_id": str(conversation)}
    asked = 0
    for method, path, operation in taking_bodies():
        # A test needs an expectation, too.
        if "query" in dict(fields_of(operation)) and not path.endswith("/memory_tests"):
            answer = send(ana, method, path, json.dumps(body).encode(), "application/json")
            assert answer.status_code == 200, (path, answer.content)
            asked += 1
    assert asked >= 5


def test_extreme_numbers_are_refused_or_served(
    ana: Agent, model: ModelServer, settings: Settings
) -> None:
    settings.ASK_RATE = 0
    model.always("ask", tell_all)
    for method, path, operation in taking_bodies():
        for name, kinds in fields_of(operation):
            if kinds & {"integer", "number"}:
                tiny = [5e-324, -5e-324, 1e-300] if "number" in kinds else []
                for number in (2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, *tiny):
                    body = json.dumps({name: number, "conversation_id": ID, "query": "x"}).encode()
                    answer = send(ana, method, address(path), body, "application/json")
                    assert answer.status_code in {200, 201, 400, 404}, (path, name, number)

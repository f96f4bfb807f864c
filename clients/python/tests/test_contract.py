"""The client has the operations of the API's description, with their fields, and no others."""

from __future__ import annotations

import inspect
import typing
import uuid
from typing import Any

import pytest

from memory_server_client import AsyncClient, Client, NewMessage, NewNote, types
from memory_server_client.core import Call
from memory_server_client.faces import Listing, Operation

OWN = {"wait_for", "close", "recall"}
"""Methods that are no operation of the API."""
FACES: list[Any] = [Client("http://localhost", "none"), AsyncClient("http://localhost", "none")]
ELSEWHERE = {
    "change_note": {"changes"},
    "context_pre_retrieve": {"detail", "episodic_limit", "fusion"},
    "retrieve_memory": {"fusion"},
    "retrieve_memory_raw": {"fusion"},
    "ask": {"stream"},
}
"""Of the first: all fields but the version; of the last: what answers with events; of the others:
passed over by the server."""


def operations(schema: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def fields_of(operation: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a body by name."""
    if "requestBody" not in operation:
        return {}
    described = operation["requestBody"]["content"]["application/json"]["schema"]
    while "$ref" in described:
        described = schema["components"]["schemas"][described["$ref"].split("/")[-1]]
    fields: dict[str, Any] = described["properties"]
    return fields


def parameters_of(operation: dict[str, Any], where: str) -> set[str]:
    return {one["name"] for one in operation.get("parameters", []) if one["in"] == where}


def test_the_methods_are_the_operations(schema: dict[str, Any]) -> None:
    for face in (Client, AsyncClient):
        methods = {name for name, _ in inspect.getmembers(face, callable) if name[0] != "_"}
        assert methods - OWN == set(operations(schema))


def method_names() -> list[str]:
    return sorted(
        name
        for base in Client.__mro__
        for name, one in vars(base).items()
        if isinstance(one, Operation | Listing) and name not in OWN
    )


@pytest.mark.parametrize("name", method_names())
def test_a_method_sends_what_the_operation_takes(name: str, schema: dict[str, Any]) -> None:
    """Each parameter is given; the call that comes of them is compared."""
    client = FACES[0]
    method, path, operation = operations(schema)[name]
    build = getattr(Client, name)
    given = {one: argument(one) for one in inspect.signature(build).parameters if one != "self"}
    built = build(client, **given)
    call = built if isinstance(built, Call) else next(built)
    assert call.method == method
    in_path = {one: argument(one) for one in parameters_of(operation, "path")}
    assert "/api/v0/" + call.path == path.format(**in_path)
    paged = {"after"} if "page_size" in given else set()
    assert set(call.query) == parameters_of(operation, "query") - paged
    sent = set(call.body or {})
    if name == "change_note":
        sent = (sent - {"c"}) | set(fields_of(operation, schema))
    assert sent == set(fields_of(operation, schema)) - ELSEWHERE.get(name, set())
    assert bool(call.key) is ("Idempotency-Key" in parameters_of(operation, "header"))
    assert call.repeatable or method != "GET"


def argument(name: str) -> Any:
    """Return a value for a parameter."""
    if name.endswith("_id") and name not in {"user_id", "source_id"}:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    return {"changes": {"c": 1}, "messages": ["m"], "link_types": ["next"]}.get(name, "x")


@pytest.mark.parametrize("name", method_names())
def test_a_method_says_in_an_editor_what_it_does_and_returns(
    name: str, schema: dict[str, Any]
) -> None:
    for face in FACES:
        method = getattr(face, name)
        assert method.__name__ == name and len(method.__doc__) > 20
        assert "self" not in inspect.signature(method).parameters
    _, _, operation = operations(schema)[name]
    described = next(one for code, one in operation["responses"].items() if code < "300")
    content = described.get("content", {}).get("application/json", {}).get("schema", {})
    returned = inspect.signature(getattr(Client, name)).return_annotation
    answer = content.get("$ref", "").split("/")[-1]
    if answer and not answer.endswith("Page"):
        assert returned == f"Flow[types.{answer}]"


def test_the_types_hold_the_fields_of_the_answers(schema: dict[str, Any]) -> None:
    """When this fails, run generate_types.py."""
    answers = {
        name: one
        for name, one in schema["components"]["schemas"].items()
        if not name.endswith("Request") and one.get("type") == "object"
    }
    assert len(answers) > 60
    for name, one in answers.items():
        assert set(getattr(types, name).__annotations__) == set(one.get("properties", {})), name
    choices = {
        name: one["enum"]
        for name, one in schema["components"]["schemas"].items()
        if "enum" in one and name != "NullEnum"
    }
    for name, values in choices.items():
        assert sorted(typing.get_args(getattr(types, name))) == sorted(values), name


@pytest.mark.parametrize(
    ("given", "taken"),
    [(NewMessage, "MessageInputRequest"), (NewNote, "BatchedNoteInputRequest")],
)
def test_what_a_batch_holds_has_the_fields_of_the_api(
    given: Any, taken: str, schema: dict[str, Any]
) -> None:
    assert set(given.__annotations__) == set(schema["components"]["schemas"][taken]["properties"])


@pytest.mark.parametrize("wrong", ["../whoami", "", "x", "00000000-0000-0000-0000-0000000000zz"])
def test_an_id_that_is_none_leads_to_no_other_address(wrong: str) -> None:
    with pytest.raises(ValueError):
        FACES[0].get_fact(wrong)

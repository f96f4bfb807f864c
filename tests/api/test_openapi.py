"""The description of the API is valid and whole, and its page needs no other host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import drf_spectacular.validation
import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from memoryproject import urls
from memoryproject.edge import description
from memoryproject.tenancy.views import KeyedView

SPECIFICATIONS = Path(drf_spectacular.validation.__file__).parent
METHODS = {"get", "post", "put", "patch", "delete"}
OPEN = {"schema/", "docs/"}
ERROR = "#/components/schemas/Error"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    answer = Client(SERVER_NAME="localhost").get("/api/v0/schema/", {"format": "json"})
    assert answer.status_code == 200
    described: dict[str, Any] = json.loads(answer.content)
    return described


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield triples (path, method, operation)."""
    for path, methods in schema["paths"].items():
        for method in METHODS & set(methods):
            yield path, method, methods[method]


def test_it_is_openapi_3_1(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1")
    # drf-spectacular's own function looks for each anchor anew, which takes half a minute.
    specification = json.loads((SPECIFICATIONS / "openapi_3_1_schema.json").read_text("utf-8"))
    name = specification["$id"]
    registry = Registry().with_resource(name, Resource.from_contents(specification)).crawl()
    validator = Draft202012Validator({"$ref": name}, registry=registry)
    assert [error.message for error in validator.iter_errors(schema)] == []
    assert not validator.is_valid({**schema, "paths": {"/": {"get": {"responses": {"2000": {}}}}}})


def test_it_is_made_without_a_warning_and_served_as_yaml(tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    call_command("spectacular", "--fail-on-warn", "--file", str(file))
    served = Client(SERVER_NAME="localhost").get("/api/v0/schema/").content
    assert served.startswith(b"openapi: 3.1") and served == file.read_bytes()


def test_every_route_is_described(schema: dict[str, Any]) -> None:
    routes = {str(route.pattern) for route in urls.api} - OPEN
    assert set(schema["paths"]) == {
        "/api/v0/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route) for route in routes
    }


def test_names_of_operations_are_unique(schema: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(schema)]
    assert len(names) == len(set(names))


def test_calls_with_a_key_say_so_and_health_does_not(schema: dict[str, Any]) -> None:
    scheme = schema["components"]["securitySchemes"]["key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    keyed = {
        str(route.pattern)
        for route in urls.api
        if issubclass(getattr(route.callback, "cls", object), KeyedView)
    }
    secured = {path for path, _, operation in operations(schema) if "security" in operation}
    assert len(secured) == len(keyed)
    assert not any("health" in path for path in secured)


def expected_errors(path: str, operation: dict[str, Any]) -> set[str]:
    """Return the errors that every operation of this kind can answer."""
    codes = {"401", "403", "429", "503"}
    parameters = operation.get("parameters", [])
    codes |= {"404"} if "{" in path else set()
    codes |= {"400"} if any(parameter["in"] == "query" for parameter in parameters) else set()
    codes |= {"400", "413", "415"} if "requestBody" in operation else set()
    codes |= {"409"} if any(p["name"] == "Idempotency-Key" for p in parameters) else set()
    return codes


def test_every_call_with_a_key_describes_its_errors(schema: dict[str, Any]) -> None:
    for path, method, operation in operations(schema):
        if "security" not in operation:
            continue
        responses = operation["responses"]
        missing = expected_errors(path, operation) - set(responses)
        assert not missing, (method, path, missing)
        for code, response in responses.items():
            if code >= "400":
                assert response["content"]["application/json"]["schema"] == {"$ref": ERROR}
    error = schema["components"]["schemas"]["Error"]
    assert set(error["properties"]) == set(error["required"]) == {"code", "message", "fields"}


def test_answers_in_markdown_are_described_as_such(schema: dict[str, Any]) -> None:
    for call in ("retrieve_memory", "context_pre_retrieve", "recent_memory"):
        answer = schema["paths"][f"/api/v0/{call}"]["post"]["responses"]["200"]
        assert list(answer["content"]) == ["text/markdown"]


@pytest.mark.django_db  # the end of a request looks at the connections
def test_the_page_loads_everything_from_here() -> None:
    client = Client(SERVER_NAME="localhost")
    answer = client.get("/api/v0/docs/")
    assert answer.status_code == 200
    page = answer.content.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded
    assert all(address.startswith("/") and not address.startswith("//") for address in loaded)
    assert not re.search(r"https?://", page)
    for address in loaded:
        asset = client.get(address)
        assert asset.status_code == 200, address
        asset.close()


def test_it_is_made_once_whatever_stands_in_the_query(schema: dict[str, Any]) -> None:
    made = {name: id(answer) for name, answer in description._made.items()}
    for query in ({}, {"version": "9"}, {"lang": "de"}, {"x": "1"}):
        answer = Client(SERVER_NAME="localhost").get("/api/v0/schema/", {"format": "json", **query})
        assert json.loads(answer.content) == schema
    assert made and made == {name: id(answer) for name, answer in description._made.items()}


def test_who_has_it_already_is_told_so(schema: dict[str, Any]) -> None:
    client = Client(SERVER_NAME="localhost")
    first = client.get("/api/v0/schema/")
    again = client.get("/api/v0/schema/", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert first["Cache-Control"] == "public, no-cache"
    other = client.get(
        "/api/v0/schema/", {"format": "json"}, headers={"if-none-match": first["ETag"]}
    )
    assert other.status_code == 200 and other["ETag"] != first["ETag"]

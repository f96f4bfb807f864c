"""The description of the API says of each call, answer and field what a developer must know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from memoryproject.edge.headers import HEADERS, name_header
from memoryproject.edge.reference import CHOICES, TASK_OF, list_operations
from memoryproject.edge.schema import STATUSES
from memoryproject.tenancy.models import Scope

SENTENCE = re.compile(r"\S.{10,}[.…:`)]", re.DOTALL)
BOILERPLATE = re.compile("no response body|unspecified response|successful response", re.I)


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return schema


def list_names(described: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield owner, name and description of each field, parameter and header of an answer."""
    for name, component in described["components"]["schemas"].items():
        for field, schema in component.get("properties", {}).items():
            yield name, field, schema.get("description", "")
    for operation in list_operations(described):
        call = operation["operationId"]
        for parameter in operation["parameters"]:
            yield call, parameter["name"], parameter.get("description", "")
        for response in operation["responses"].values():
            for header, one in response.get("headers", {}).items():
                yield call, header, one.get("description", "")


def test_the_introduction_says_what_holds_for_all_calls(described: dict[str, Any]) -> None:
    info = described["info"]
    assert info["version"]
    for word in ("Bearer", "Idempotency-Key", "`next`", "`fields`", "Retry-After", "over_quota",
                 "`flush`", "version 0"):  # fmt: skip
        assert word in info["description"], word


def test_each_call_stands_under_one_task_of_the_guide(described: dict[str, Any]) -> None:
    tasks = [tag["name"] for tag in described["tags"] if SENTENCE.fullmatch(tag["description"])]
    guide = (settings.BASE_DIR / "docs/api.md").read_text(encoding="utf-8")
    assert tasks == re.findall("^## (.+)$", guide, re.M)[1:]
    assert set(TASK_OF) == {one["operationId"] for one in list_operations(described)}


def test_each_call_has_a_summary_and_a_description(described: dict[str, Any]) -> None:
    for operation in list_operations(described):
        name = operation["operationId"]
        assert re.fullmatch(r"[A-Z].{5,70}[^.]", operation["summary"]), name
        assert SENTENCE.fullmatch(operation["description"]), name


def test_each_call_with_a_key_names_its_scope_or_that_it_needs_none(
    described: dict[str, Any],
) -> None:
    """That a key with this scope alone is enough, the examples show; see tests/api."""
    for operation in list_operations(described):
        if "security" not in operation:
            assert operation["operationId"] in {"health_live", "health_ready"}
            continue
        ((_, scopes),) = operation["security"][0].items()
        said = re.findall(r"Needs the scope `(\w+)`\.$", operation["description"])
        assert scopes == said and set(said) <= set(Scope.values), operation["operationId"]
        assert said or operation["description"].endswith("Needs a key, but no scope.")


def test_each_answer_has_a_sentence_of_its_own(described: dict[str, Any]) -> None:
    for operation in list_operations(described):
        for status, response in operation["responses"].items():
            said = response["description"]
            place = (operation["operationId"], status, said)
            assert SENTENCE.fullmatch(said) and not BOILERPLATE.search(said), place


def test_each_field_parameter_and_header_has_a_meaning(described: dict[str, Any]) -> None:
    names = list(list_names(described))
    assert len(names) > 700
    without = [
        (owner, name, text)
        for owner, name, text in names
        if text.startswith(CHOICES) or not re.match(r"\S.+[.…:`)]", text, re.S)
    ]
    assert without == []


def test_each_component_says_what_it_is(described: dict[str, Any]) -> None:
    components = described["components"]["schemas"]
    silent = {name for name, one in components.items() if not one.get("description")}
    assert silent <= {"NullEnum"}


def test_each_call_shows_a_request_and_an_answer_that_fit(described: dict[str, Any]) -> None:
    for operation in list_operations(described):
        name, shown = operation["operationId"], 0
        for content in operation.get("requestBody", {}).get("content", {}).values():
            check_example(content, described, f"{name} request")
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                if status >= "400":
                    content = {**content, "example": content["examples"]["error"]["value"]}
                if "example" in content:
                    check_example(content, described, f"{name} {status}")
                    shown += status < "400"
        for parameter in operation["parameters"]:
            needed = parameter["in"] == "path"
            assert "example" in parameter or not needed, (name, parameter["name"])
        assert shown or operation["responses"].keys() >= {"204"}, name


def check_example(content: dict[str, Any], described: dict[str, Any], place: str) -> None:
    """Check that an example is there and fits its schema."""
    schema = {**content["schema"], "components": described["components"]}
    faults = list(jsonschema.Draft202012Validator(schema).iter_errors(content["example"]))
    assert not faults, (place, faults[0].message)


def test_no_text_is_left_over(described: dict[str, Any]) -> None:
    statuses = {one for call in list_operations(described) for one in call["responses"]}
    assert set(STATUSES) <= statuses
    said = {(name, text) for _, name, text in list_names(described)}
    assert {(name_header(name), text) for name, text in HEADERS.items()} <= said

"""Adds tasks and examples to the description of the API.

- `introduction.md` stands first.
- `tasks.toml` has the tasks in reading order with their calls.
- `leads.toml` says which call's answer names what others take.
- `examples.json` has one call of each operation with its answers, and an error of each status,
  as `tests/api/test_examples.py` has recorded them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoryproject.process.tables import read_table

HERE = Path(__file__).parent
INTRODUCTION = (HERE / "introduction.md").read_text(encoding="utf-8")
TASKS: list[dict[str, str]] = read_table(__file__, "tasks")["tasks"]
TASK_OF = {call: task["name"] for task in TASKS for call in task["calls"].split()}
LEADS: list[Any] = read_table(__file__, "leads")["leads"]
EXAMPLES_FILE = HERE / "examples.json"
NONE_YET: dict[str, Any] = {"body": None, "parameters": {}, "answers": {}}
ERRORS = "errors"
"""Key of the examples of errors, by status."""
CHOICES = "* `"
"""Beginning of drf-spectacular's list of a field's choices, which is no description by itself."""
CHOICE = re.compile(r"^\* `(.*)` - (.*)$", re.MULTILINE)


def add_tasks(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the description with tags and examples, in reading order.

    Raises:
        KeyError: an operation is of no task.
    """
    examples = json.loads(EXAMPLES_FILE.read_text(encoding="utf-8"))
    _add_leads(result)
    for operation in list_operations(result):
        name = operation["operationId"]
        operation["tags"] = [TASK_OF[name]]
        _add_example(operation, examples.get(name, NONE_YET), examples.get(ERRORS, {}))
        operation["parameters"] = [clean_choices(one) for one in operation.get("parameters", [])]
    for component in result["components"]["schemas"].values():
        for field, schema in component.get("properties", {}).items():
            component["properties"][field] = clean_choices(schema)
    order = list(TASK_OF)
    result["paths"] = dict(
        sorted(
            result["paths"].items(),
            key=lambda path: min(order.index(one["operationId"]) for one in path[1].values()),
        )
    )
    result["info"]["description"] = INTRODUCTION
    result["tags"] = [{"name": task["name"], "description": task["about"]} for task in TASKS]
    return result


def list_operations(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in described["paths"].values():
        yield from methods.values()


def clean_choices(described: dict[str, Any]) -> dict[str, Any]:
    """Return a field without its list of choices if its type has them, or the list only repeats."""
    text = described.get("description", "")
    has_type = not described.keys().isdisjoint({"allOf", "oneOf"})
    if has_type or all(choice == label for choice, label in CHOICE.findall(text)):
        text = text.partition(CHOICES)[0].strip()
    return {**described, "description": text}


def _add_leads(result: dict[str, Any]) -> None:
    operations = {one["operationId"]: one for one in list_operations(result)}
    for call, parameter, place, others in LEADS:
        links = {
            f"{other}_by_{parameter}": {
                "operationId": other,
                "parameters": {f"path.{parameter}": place},
            }
            for other in others
        }
        for status, response in operations[call]["responses"].items():
            if status < "400":
                response.setdefault("links", {}).update(links)


def _add_example(
    operation: dict[str, Any], example: dict[str, Any], errors: dict[str, Any]
) -> None:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["example"] = example["body"]
    for parameter in operation.get("parameters", []):
        if parameter["name"] in example["parameters"]:
            parameter["example"] = example["parameters"][parameter["name"]]
    for status, response in operation["responses"].items():
        for kind, content in response.get("content", {}).items():
            is_text = isinstance(example["answers"].get(status), str)
            if status in example["answers"] and is_text is kind.startswith("text/"):
                content["example"] = example["answers"][status]
            elif status in errors:
                shown = {"summary": "An error of this status", "value": errors[status]}
                content["examples"] = {"error": shown}

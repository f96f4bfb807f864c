"""What is not a note, or no address of one, is refused in the one shape of errors."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from indexing.models import Memory
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, write
from tests.notes.test_writing import PLAN, THREAD, change
from wings.notes.models import Link, Note

pytestmark = [pytest.mark.django_db]

ROUTES = {
    "notes": "GET POST",
    f"notes/{UNKNOWN}": "GET PATCH DELETE",
    f"notes/{UNKNOWN}/versions": "GET",
    "links": "POST",
    f"links/{UNKNOWN}": "DELETE",
    f"memories/{UNKNOWN}/links": "GET",
    f"memories/{UNKNOWN}/walk": "GET",
}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"]


@pytest.fixture
def nothing_is_stored(db: None) -> Iterator[None]:
    yield
    for model in (Note, Link, Memory):
        assert not model.across_tenants.exists()


WRONG: dict[str, Any] = {
    "source_type": ["", "Note", "notes", 1, [], "episode", "fact"],
    "source_id": [1, True, {}, "x" * 256],
    "user_id": [7, ["a"], "x" * 256],
    "label": [3, "x" * 301],
    "description": [0, "x" * 4_001],
    "content": ["", "  \n", 1, ["a"]],
    "importance": [-0.1, 1.1, "0.5", True, [], 1e12],
    "category": [1, "x" * 101],
    "emotion_type": [False, "x" * 101],
    "emotion_intensity": [-1, 2, "1"],
    "emotion_valence": ["", "good", 1],
    "tags": ["tea", {"a": 1}, ["x"] * 51, 1],
    "metadata": ["x", [], 1],
    "span": ["x", [], 1],
    "source_path": [1, "x" * 1_001],
    "excerpt": [1, "x" * 16_001],
    "occurred_at": ["yesterday", "2026-05-01", -1, True, "2999-01-01T00:00:00Z"],
    "conversation_id": ["x", 1, str(uuid.UUID(int=7))[:-1]],
    "id": [UNKNOWN],
    "version": [1],
    "made_by": ["me"],
    "deleted_at": ["2026-05-01T10:00:00Z"],
}


@pytest.mark.usefixtures("nothing_is_stored")
@pytest.mark.parametrize(
    "name, given", [(name, given) for name, values in WRONG.items() for given in values]
)
def test_a_wrong_field_is_named(ana: Agent, name: str, given: Any) -> None:
    body = {"content": "Something.", name: given}
    assert_problem(ana.post("notes", body), 400, name)


@pytest.mark.usefixtures("nothing_is_stored")
@pytest.mark.parametrize(
    "given, field",
    [({"tags": [""]}, "tags.0"), ({"tags": ["a", 1]}, "tags.1"), ({"tags": ["x" * 101]}, "tags.0"),
     ({"span": {"span_id": "s"}}, None),
     ({"span": {"span_id": "", "start_byte": 0, "end_byte": 1}}, "span.span_id"),
     ({"span": {"span_id": "s", "start_byte": 5, "end_byte": 4}}, "span.end_byte"),
     ({"span": {"span_id": "s", "start_byte": -1, "end_byte": 4}}, "span.start_byte"),
     ({"span": {"span_id": "s", "start_byte": 0, "end_byte": 4, "x": 1}}, "span.x")],
)  # fmt: skip
def test_a_wrong_part_of_a_field_is_named(
    ana: Agent, given: dict[str, Any], field: str | None
) -> None:
    answer = ana.post("notes", {"content": "Something.", **given})
    problem = assert_problem(answer, 400, *([field] if field else []))
    assert problem["code"] == "invalid"


THREADS: list[dict[str, Any]] = [
    {}, {**THREAD, "platform": ""}, {**THREAD, "message_count": -1}, {**THREAD, "mood": "fine"},
    {**THREAD, "participant_count": "2"}, {**THREAD, "key_points": "one"},
    {**THREAD, "key_points": [1]}, {**THREAD, "key_points": ["x" * 501]},
    {**THREAD, "key_points": ["x"] * 51}, {**THREAD, "sentiment": "angry"},
    {**THREAD, "last_activity_at": "today"}, {**THREAD, "message_count": 10**10},
    {name: value for name, value in THREAD.items() if name != "key_points"},
]  # fmt: skip
PLANS: list[dict[str, Any]] = [
    {}, {**PLAN, "total_nodes": 9}, {**PLAN, "completed_nodes": 5.0}, {**PLAN, "platform": "x"},
    {**PLAN, "key_milestones": None}, {**PLAN, "current_phase": 1},
    {**PLAN, "plan_type": "x" * 101},
]  # fmt: skip


@pytest.mark.usefixtures("nothing_is_stored")
@pytest.mark.parametrize(
    "source_type, metadata",
    [*(("thread_summary", one) for one in THREADS), *(("plan_summary", one) for one in PLANS)],
)
def test_a_summary_needs_its_metadata(
    ana: Agent, source_type: str, metadata: dict[str, Any]
) -> None:
    body = {"source_type": source_type, "metadata": metadata, "content": "x", "label": "x"}
    problem = assert_problem(ana.post("notes", body), 400)
    assert all(name.startswith("metadata.") for name in problem["fields"])
    assert_problem(ana.post("notes", {"source_type": source_type, "content": "x"}), 400)


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_note_says_something(ana: Agent) -> None:
    for body in ({}, {"source_type": "offer"}, {"tags": ["x"]}, {"label": " ", "excerpt": ""}):
        assert_problem(ana.post("notes", body), 400, "content")


@pytest.mark.usefixtures("nothing_is_stored")
def test_what_is_over_a_cap_is_too_large(ana: Agent) -> None:
    text = "x" * (settings.MAX_CONTENT_BYTES + 1)
    assert_problem(ana.post("notes", {"content": text}), 413, "content")
    assert_problem(ana.post("notes", {"content": "x", "metadata": {"a": text}}), 413, "metadata")


def test_null_in_an_optional_field_is_absence(ana: Agent) -> None:
    nothing = dict.fromkeys(name for name in WRONG if name not in
                            {"content", "id", "version", "made_by", "deleted_at"})  # fmt: skip
    made = ana.post("notes", {"content": "Something.", **nothing})
    assert made.status_code == 201 and made.json()["importance"] == 0.5
    changed = change(ana, made.json()["id"], version=1, label=None, tags=None)
    assert changed.json() == made.json()


@pytest.mark.parametrize(
    "name, given",
    [("version", 0), ("version", "1"), ("version", 1.0), ("version", True), ("version", 2**31),
     ("source_type", "offer"), ("conversation_id", UNKNOWN), ("content", " "), ("nothing", 1),
     ("importance", 2), ("metadata", [])],
)  # fmt: skip
def test_a_wrong_change_is_refused(ana: Agent, name: str, given: Any) -> None:
    note = write(ana)
    assert_problem(change(ana, note, **{"version": 1, name: given}), 400, name)
    assert ana.get(f"notes/{note}").json()["version"] == 1


def test_the_metadata_of_a_summary_is_checked_when_it_changes(ana: Agent) -> None:
    made = ana.post("notes", {"source_type": "plan_summary", "metadata": PLAN}).json()
    answer = change(ana, made["id"], version=1, metadata={**PLAN, "total_nodes": 1})
    assert_problem(answer, 400, "metadata.total_nodes")
    assert change(ana, made["id"], version=1, importance=1).json()["metadata"] == PLAN


@pytest.mark.parametrize("route", ROUTES)
def test_another_method_is_not_allowed(ana: Agent, route: str) -> None:
    allowed = ROUTES[route].split()
    for method in METHODS:
        answer = ana.client.generic(method, f"/api/v0/{route}", content_type="application/json")
        if method not in allowed:
            assert_problem(answer, 405)
        elif UNKNOWN in route and method != "PATCH":
            assert_problem(answer, 404)
    assert ana.client.options(f"/api/v0/{route}").status_code == 200
    assert ana.client.head(f"/api/v0/{route}").status_code in {200, 404, 405}


def test_an_unknown_note_is_not_found(ana: Agent) -> None:
    assert_problem(change(ana, UNKNOWN, version=1, content="x"), 404)


WRONG_PAGES = [
    *[("limit", given) for given in ["", "0", "-1", "201", "1.0", "9" * 5_000, "five", "\0"]],
    *[("after", given) for given in ["", "garbage", "\0", "' OR 1=1 --"]],
    *[("conversation_id", given) for given in ["", "x", "\0"]],
    *[("source_type", given) for given in ["", "episode", "Note"]],
    *[(name, "x" * 256) for name in ("source_id", "user_id", "category", "tag")],
    ("page", "1"), ("tags", "x"),
]  # fmt: skip


@pytest.mark.parametrize("name, given", WRONG_PAGES)
def test_a_wrong_parameter_is_named(ana: Agent, name: str, given: str) -> None:
    assert_problem(ana.get("notes", **{name: given}), 400, name)


@pytest.mark.parametrize(
    "name, given", [("limit", "0"), ("after", "0"), ("after", "x"), ("x", "1")]
)
def test_a_wrong_page_of_versions_is_refused(ana: Agent, name: str, given: str) -> None:
    assert_problem(ana.get(f"notes/{write(ana)}/versions", **{name: given}), 400, name)


def test_notes_come_in_pages(ana: Agent) -> None:
    notes = [write(ana, f"Note {number}.") for number in range(5)]
    found: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = ana.get("notes", limit=2, **after).json()
        found += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert found == notes[::-1]


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_refusal_does_not_repeat_what_was_written(ana: Agent) -> None:
    said = "canary-7714"
    body = {"content": " ", "source_type": said, "occurred_at": said, "category": said * 100}
    answer = ana.post("notes", body)
    assert_problem(answer, 400)
    assert said not in json.dumps(answer.json())

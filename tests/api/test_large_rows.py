"""Large texts fill a page early: no list loads more than a bound, and none leaves anything out."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from episodic.models import Message
from tests.api.problems import assert_problem
from tests.api.test_paging import all_pages
from tests.conftest import Agent

pytestmark = pytest.mark.django_db
AT_MOST = 16 * 1024
METADATA = {"e": "ü" * 8188}
"""16 KiB in UTF-8, as compact JSON; more than that with spaces, or with escapes."""


@pytest.mark.parametrize("call", ["add_message", "add_messages"])
def test_metadata_of_a_message_have_a_cap_in_bytes(
    ana: Agent, conversation: uuid.UUID, call: str
) -> None:
    def post(metadata: object) -> object:
        message = {"role": "user", "content": "hi", "metadata": metadata}
        one = {"message": message} if call == "add_message" else {"messages": [message]}
        return ana.post(call, {"conversation_id": str(conversation), **one})

    over = {"e": METADATA["e"] + "x"}
    place = "message.metadata" if call == "add_message" else "messages.0.metadata"
    assert assert_problem(post(over), 413, place)["code"] == "too_large"
    assert not Message.objects.of(ana.tenant).exists()
    assert post(METADATA).status_code == 201  # type: ignore[attr-defined]
    (stored,) = ana.get("messages", conversation_id=conversation).json()["items"]
    assert stored["metadata"] == METADATA


def test_metadata_of_a_note_have_a_cap_in_bytes(ana: Agent) -> None:
    over = {"e": METADATA["e"] + "x"}
    assert_problem(ana.post("notes", {"content": "x", "metadata": over}), 413, "metadata")
    note = ana.post("notes", {"content": "x", "metadata": METADATA}).json()
    patch = {"version": 1, "metadata": over}
    changed = ana.client.patch(
        f"/api/v0/notes/{note['id']}", patch, content_type="application/json"
    )
    assert_problem(changed, 413, "metadata")
    summary = {"platform": "x", "participant_count": 1, "message_count": 1}
    points = {
        "source_type": "thread_summary",
        "metadata": {**summary, "key_points": ["y" * 500] * 40},
    }
    assert_problem(ana.post("notes", points), 413, "metadata")


def test_a_page_ends_early_where_its_texts_are_large(
    ana: Agent, conversation: uuid.UUID, settings: Settings
) -> None:
    settings.PAGE_BYTES = 30_000
    for number in range(7):
        ana.say(conversation, "y" * 9_000, metadata={"n": number, "x": "x" * 3_000})
    with CaptureQueriesContext(
        connection,
    ) as captured:
        page = ana.get("messages", conversation_id=conversation, limit=200).json()
    assert ([item["seq"] for item in page["items"]], page["next"]) == ([1, 2], "2")
    asked = [query["sql"] for query in captured if '"content"' in query["sql"]]
    assert len(asked) == 2 and "octet_length" in asked[0] and "IN (1, 2)" in asked[1]
    for limit in (1, 2, 3, 200):
        items = all_pages(ana, "messages", conversation_id=conversation, limit=limit)
        assert [item["metadata"]["n"] for item in items] == list(range(7))
    settings.PAGE_BYTES = 1  # less than any row: each page has one
    items = all_pages(ana, "messages", conversation_id=conversation)
    assert [item["seq"] for item in items] == list(range(1, 8))


def test_no_list_leaves_anything_out(ana: Agent, told: uuid.UUID, settings: Settings) -> None:
    for _ in range(3):
        ana.post("retrieve_memory", {"conversation_id": str(told), "query": "piano"})
    ana.say(told, "I adopted a cat called Pixel.", name="Mira")
    ana.flush(told)
    note = ana.post("notes", {"content": "1", "conversation_id": str(told)}).json()["id"]
    for version in range(1, 4):
        body = {"version": version, "content": str(version + 1)}
        ana.client.patch(f"/api/v0/notes/{note}", body, content_type="application/json")
    ana.post("notes", {"content": "another"})
    changeset = ana.get("changesets").json()["items"][-1]["id"]
    lists = ["episodes", "facts", "retrievals", "changesets", "notes", f"notes/{note}/versions"]
    whole = {name: all_pages(ana, name) for name in lists}
    assert all(len(items) > 1 for items in whole.values())
    steps = ana.get(f"changesets/{changeset}").json()["changes"]
    settings.PAGE_BYTES = 1
    for name, items in whole.items():
        assert len(ana.get(name).json()["items"]) <= 2, name
        assert all_pages(ana, name) == items, name
    first = ana.get(f"changesets/{changeset}").json()
    assert len(steps) > 1
    assert (first["changes"], first["next"]) == (steps[:1], str(steps[0]["position"]))

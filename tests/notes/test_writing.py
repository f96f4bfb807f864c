"""Notes are stored whole, changed by versions, and gone once they are deleted."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Conversation
from indexing.models import SearchUnit, SearchVector
from tests.api.problems import assert_problem
from tests.conftest import Agent
from wings.notes.models import Note, NoteVersion

pytestmark = pytest.mark.django_db

EVERYTHING = {
    "source_type": "document",
    "source_id": "doc-7",
    "user_id": "user-1",
    "label": "Handbook",
    "description": "How to brew tea",
    "content": "  Warm the pot.\nThen wait. ",
    "importance": 0.9,
    "category": "episodic",
    "emotion_type": "curiosity",
    "emotion_intensity": 0.81,
    "emotion_valence": "positive",
    "tags": ["tea", "pots"],
    "metadata": {"pages": 3},
    "span": {"span_id": "s-1", "start_byte": 0, "end_byte": 27},
    "source_path": "library/tea.md",
    "excerpt": "Warm the pot.",
    "occurred_at": "2026-05-01T10:00:00Z",
}


def add(agent: Agent, **fields: Any) -> dict[str, Any]:
    """Post a note and return it."""
    answer = agent.post("notes", fields)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_a_note_comes_back_as_it_was_written(ana: Agent, conversation: uuid.UUID) -> None:
    made = add(ana, **EVERYTHING, conversation_id=str(conversation))
    assert {name: made[name] for name in EVERYTHING} == EVERYTHING
    assert made["conversation_id"] == str(conversation)
    assert (made["version"], made["updated_by"]) == (1, "key ana")
    assert made["created_at"] == made["updated_at"]
    assert ana.get(f"notes/{made['id']}").json() == made


def test_a_note_needs_little(ana: Agent) -> None:
    made = add(ana, content="Ana prefers green tea.\nAlways has.")
    assert made["source_type"] == "note" and made["importance"] == 0.5
    assert made["label"] == "Ana prefers green tea."
    assert made["occurred_at"] == made["created_at"]
    empty = ("source_id", "user_id", "description", "category", "emotion_type", "span", "excerpt",
             "emotion_intensity", "emotion_valence", "source_path", "conversation_id")  # fmt: skip
    assert all(made[name] is None for name in empty)
    assert (made["tags"], made["metadata"]) == ([], {})


def test_a_reference_is_what_its_description_says(ana: Agent) -> None:
    made = add(ana, source_type="reference", label="FAQ", description="Pricing and features")
    assert made["content"] == "Pricing and features"
    assert add(ana, source_type="offer", label="Ten percent off")["content"] == "Ten percent off"


def test_a_note_starts_its_conversation(ana: Agent, cleo: Agent, conversation: uuid.UUID) -> None:
    add(ana, content="Something.", conversation_id=str(conversation))
    mine = Conversation.objects.of(ana.tenant).get(external_id=conversation)
    assert mine.next_seq == 1
    add(cleo, content="Mine.", conversation_id=str(conversation))
    assert Conversation.across_tenants.filter(external_id=conversation).count() == 2


THREAD = {
    "platform": "instagram",
    "participant_count": 2,
    "message_count": 10,
    "key_points": ["User asked about pricing", "Interested in premium plan", "Wants a demo"],
    "sentiment": "positive",
    "last_activity_at": "2026-05-01T10:00:00Z",
}
PLAN = {
    "plan_type": "content_calendar",
    "total_nodes": 10,
    "completed_nodes": 5,
    "pending_nodes": 5,
    "failed_nodes": 0,
    "key_milestones": ["Week 1 complete"],
    "current_phase": "execution",
}


def test_a_threads_summary_is_told_from_its_metadata(ana: Agent) -> None:
    made = add(ana, source_type="thread_summary", source_id="thread-1", metadata=THREAD)
    assert made["label"] == "Thread: instagram (10 messages)"
    assert made["snippet"] == "User asked about pricing. Interested in premium plan."
    assert made["description"].endswith("Wants a demo.")
    for said in ("instagram", "10 messages", "2 participants", "positive", "- Wants a demo"):
        assert said in made["content"]
    assert made["metadata"] == THREAD


def test_a_plans_summary_is_told_from_its_metadata(ana: Agent) -> None:
    made = add(ana, source_type="plan_summary", source_id="plan-1", metadata=PLAN)
    assert made["label"] == "Plan: content_calendar (50% complete)"
    assert made["snippet"] == made["description"] == "Week 1 complete."
    for said in ("content_calendar", "5 of 10", "5 pending", "0 failed", "execution"):
        assert said in made["content"]
    empty = {**PLAN, "total_nodes": 0, "completed_nodes": 0, "pending_nodes": 0}
    assert "(0% complete)" in add(ana, source_type="plan_summary", metadata=empty)["label"]


def test_given_texts_are_kept_beside_metadata(ana: Agent) -> None:
    made = add(ana, source_type="thread_summary", metadata=THREAD, label="A talk", content="Sold.")
    assert (made["label"], made["content"]) == ("A talk", "Sold.")


def test_what_followed_from_the_metadata_follows_the_new_ones(ana: Agent) -> None:
    made = add(ana, source_type="plan_summary", metadata=PLAN, label="My plan")
    later = {**PLAN, "completed_nodes": 10, "pending_nodes": 0, "key_milestones": ["Done"]}
    answer = ana.client.patch(
        f"/api/v0/notes/{made['id']}",
        {"version": 1, "metadata": later},
        content_type="application/json",
    )
    changed = answer.json()
    assert changed["label"] == "My plan" and changed["description"] == "Done."
    assert "10 of 10" in changed["content"]


@pytest.mark.parametrize(
    "written, change_of, expected",
    [
        ({"content": "One."}, {"content": "Two."}, {"label": "Two.", "content": "Two."}),
        ({"content": "One.", "label": "L"}, {"content": "Two."}, {"label": "L"}),
        ({"content": "One.", "label": "L"}, {"label": ""}, {"label": "One."}),
        ({"description": "One."}, {"description": "Two."}, {"content": "Two.", "label": "Two."}),
        ({"description": "One.", "content": "C"}, {"description": ""}, {"content": "C"}),
        ({"excerpt": "One.", "label": "L"}, {"excerpt": "Two."}, {"content": "Two.", "label": "L"}),
        ({"label": "One."}, {"label": "Two."}, {"content": "Two."}),
    ],
)
def test_a_text_that_followed_from_another_follows_its_change(
    ana: Agent, written: dict[str, str], change_of: dict[str, str], expected: dict[str, str]
) -> None:
    made = add(ana, **written)
    changed = change(ana, made["id"], version=1, **change_of).json()
    assert {name: changed[name] for name in expected} == expected


def change(agent: Agent, note_id: str, **fields: Any) -> Any:
    """Patch a note and return the answer."""
    return agent.client.patch(f"/api/v0/notes/{note_id}", fields, content_type="application/json")


def test_a_change_is_a_version_and_the_one_before_is_kept(ana: Agent, bo: Agent) -> None:
    made = add(ana, **EVERYTHING)
    changed = change(bo, made["id"], version=1, content="Cold water.", tags=[], category="").json()
    assert changed["version"] == 2 and changed["updated_by"] == "key bo"
    assert (changed["content"], changed["tags"], changed["category"]) == ("Cold water.", [], None)
    for name in ("label", "metadata", "span", "created_at", "occurred_at", "user_id"):
        assert changed[name] == made[name]
    assert ana.get(f"notes/{made['id']}").json() == changed
    page = ana.get(f"notes/{made['id']}/versions").json()
    assert [item["version"] for item in page["items"]] == [2, 1]
    current, first = page["items"]
    assert first["content"] == made["content"] and first["tags"] == made["tags"]
    assert (first["updated_by"], first["updated_at"]) == ("key ana", made["updated_at"])
    assert first["replaced_at"] == current["updated_at"] and current["replaced_at"] is None


def test_versions_come_in_pages(ana: Agent) -> None:
    made = add(ana, content="one")
    for number in range(1, 6):
        assert change(ana, made["id"], version=number, content=f"{number}").status_code == 200
    found, after = [], {}
    while True:
        page = ana.get(f"notes/{made['id']}/versions", limit=2, **after).json()
        found += [item["version"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert found == [6, 5, 4, 3, 2, 1]
    assert ana.get(f"notes/{made['id']}/versions", after=1).json() == {"items": [], "next": None}


def test_a_stale_version_is_a_conflict(ana: Agent) -> None:
    made = add(ana, content="one")
    assert change(ana, made["id"], version=1, content="two").status_code == 200
    for version in (1, 3):
        problem = assert_problem(change(ana, made["id"], version=version, content="three"), 409)
        assert "version 2" in problem["message"]
    assert_problem(change(ana, made["id"], content="three"), 400, "version")
    assert ana.get(f"notes/{made['id']}").json()["content"] == "two"


def test_a_change_that_changes_nothing_is_no_version(ana: Agent) -> None:
    made = add(ana, **EVERYTHING)
    assert change(ana, made["id"], version=1, **{"content": made["content"]}).json() == made
    assert change(ana, made["id"], version=1).json() == made
    assert not NoteVersion.objects.of(ana.tenant).exists()


TAKEN_BACK = {
    "source_id": None, "user_id": None, "description": None, "importance": 0.5, "category": None,
    "emotion_type": None, "emotion_intensity": None, "emotion_valence": None, "tags": [],
    "metadata": {}, "span": None, "source_path": None, "excerpt": None,
}  # fmt: skip
"""What a note says of a field that null took back."""


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_null_takes_a_field_back_as_if_it_had_never_been_given(ana: Agent, name: str) -> None:
    made = add(ana, **EVERYTHING)
    assert made[name] != TAKEN_BACK[name]
    changed = change(ana, made["id"], version=1, **{name: None}).json()
    assert changed[name] == TAKEN_BACK[name]
    without = {given: value for given, value in EVERYTHING.items() if given != name}
    fresh = add(ana, **without)
    same = set(made) - {"id", "version", "created_at", "updated_at"}
    assert {one: changed[one] for one in same} == {one: fresh[one] for one in same}
    versions = ana.get(f"notes/{made['id']}/versions").json()["items"]
    assert versions[1][name] == made[name]
    assert change(ana, made["id"], version=2, **{name: None}).json() == changed


def test_every_field_can_be_taken_back_but_what_the_note_is(ana: Agent) -> None:
    made = add(ana, **EVERYTHING)
    texts = {"label", "content", "occurred_at"}
    assert set(TAKEN_BACK) | texts | {"source_type"} == set(EVERYTHING)
    changed = change(
        ana, made["id"], version=1, **dict.fromkeys([*TAKEN_BACK, *texts - {"content"}])
    )
    assert changed.status_code == 200
    assert changed.json()["label"] == "Warm the pot."
    assert changed.json()["occurred_at"] == made["created_at"]
    assert_problem(change(ana, made["id"], version=2, content=None), 400, "content")
    for name in ("version", "source_type"):
        assert_problem(change(ana, made["id"], **{"version": 2, name: None}), 400, name)


def test_a_text_that_is_taken_back_follows_from_the_others_again(ana: Agent) -> None:
    own = {"label": "A talk", "description": "Said.", "content": "Sold."}
    made = add(ana, source_type="thread_summary", metadata=THREAD, **own)
    told = add(ana, source_type="thread_summary", metadata=THREAD)
    changed = change(ana, made["id"], version=1, **dict.fromkeys(own)).json()
    assert {name: changed[name] for name in own} == {name: told[name] for name in own}
    assert_problem(change(ana, made["id"], version=2, metadata=None), 400)
    document = add(ana, source_type="document", content="All of it.", excerpt="Some.")
    assert change(ana, document["id"], version=1, content=None).json()["content"] == "Some."


def test_a_deleted_note_is_gone_and_its_text_kept(ana: Agent) -> None:
    made = add(ana, content="A secret plan about zebras.")
    change(ana, made["id"], version=1, content="A secret plan about okapis.")
    assert ana.client.delete(f"/api/v0/notes/{made['id']}").status_code == 204
    for answer in (
        ana.get(f"notes/{made['id']}"),
        ana.get(f"notes/{made['id']}/versions"),
        ana.get(f"memories/{made['id']}/links"),
        ana.get(f"memories/{made['id']}/walk"),
        change(ana, made["id"], version=2, content="x"),
        ana.client.delete(f"/api/v0/notes/{made['id']}"),
    ):
        assert_problem(answer, 404)
    assert ana.get("notes").json()["items"] == []
    assert not SearchUnit.objects.of(ana.tenant).exists()
    assert not SearchVector.objects.of(ana.tenant).exists()
    kept = Note.objects.of(ana.tenant).get()
    assert kept.deleted_by == "key ana" and "okapis" in kept.content
    assert NoteVersion.objects.of(ana.tenant).get().content == made["content"]


def test_a_list_is_narrowed_by_each_of_its_filters(ana: Agent, conversation: uuid.UUID) -> None:
    wanted = add(ana, **EVERYTHING, conversation_id=str(conversation))
    add(ana, content="Another.")
    for query in (
        {"conversation_id": str(conversation)}, {"source_type": "document"}, {"tag": "tea"},
        {"source_id": "doc-7"}, {"user_id": "user-1"}, {"category": "episodic"},
        {"tag": "pots", "user_id": "user-1"},
    ):  # fmt: skip
        items = ana.get("notes", **query).json()["items"]
        assert [item["id"] for item in items] == [wanted["id"]], query
    assert "content" not in items[0] and "excerpt" not in items[0]
    for query in ({"tag": "te"}, {"user_id": "user"}, {"conversation_id": str(uuid.uuid4())}):
        assert ana.get("notes", **query).json()["items"] == []


def test_a_repeated_request_stores_one_note_and_gets_the_first_answer(ana: Agent) -> None:
    body = {"content": "once", "metadata": {"a": 1}}
    first = ana.post("notes", body, **{"Idempotency-Key": "k"})
    assert first.status_code == 201
    change(ana, first.json()["id"], version=1, content="changed")
    again = ana.post("notes", body, **{"Idempotency-Key": "k"})
    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    assert again.json() == first.json()
    assert_problem(ana.post("notes", {"content": "other"}, **{"Idempotency-Key": "k"}), 409)
    assert Note.objects.of(ana.tenant).count() == 1


def test_an_idempotency_key_belongs_to_its_tenant(ana: Agent, cleo: Agent) -> None:
    for agent in (ana, cleo):
        assert agent.post("notes", {"content": "x"}, **{"Idempotency-Key": "k"}).status_code == 201

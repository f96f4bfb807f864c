"""Somebody is one person under several names: found, exported and erased as such."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from episodic.models import Conversation, Message
from memoryproject.tenancy.models import TenantModel
from retrieval.models import Retrieval
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages
from wings.erasure.services import lift_hold, place_hold
from wings.notes.models import Note
from wings.people.models import Alias, Merge, Person

pytestmark = pytest.mark.django_db
KINDS = ("conversations", "messages", "episodes", "facts", "notes", "answers")
OLGAS = [("Olga" if name == "Mira" else name, content) for name, content in MOVING]
WHY = {"reason": "They said so."}


def tell(agent: Agent, lines: Any, *, at: Any, **owner: str) -> str:
    talk = str(uuid.uuid4())
    said = messages(lines, at)
    for line in said:
        line["role"] = "user" if line["name"] in ("Mira", "Olga") else line["role"]
    body = {"conversation_id": talk, **owner, "messages": said}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(uuid.UUID(talk))
    return talk


@pytest.fixture(scope="module")
def talks(ana: Agent) -> dict[str, str]:
    """Mira's own conversation, one of Jonas' in which she speaks, and one without her."""
    talks = {
        "own": tell(ana, MOVING, at=MORNING, user_id="mira-1"),
        "shared": tell(ana, RUNNING, at=EVENING, user_id="jonas-1"),
        "others": tell(ana, OLGAS, at=MORNING, user_id="olga-1"),
    }
    ana.post("notes", {"content": "Mira likes boats.", "user_id": "mira-1"})
    ana.post("notes", {"content": "Olga likes fjords.", "user_id": "olga-1"})
    for talk in talks.values():
        ana.post("retrieve_memory", {"conversation_id": talk, "query": "Who moved?"})
    return talks


def add(agent: Agent, name: str, **names: list[str]) -> dict[str, Any]:
    answer = agent.post("people", {"name": name, **names})
    assert answer.status_code == 201, answer.content
    person: dict[str, Any] = answer.json()
    return person


def export(agent: Agent, person: str, kind: str) -> list[dict[str, Any]]:
    """Return all pages of a kind."""
    items, after = [], None
    while True:
        query = {"kind": kind, "limit": 2} | ({"after": after} if after else {})
        page = agent.get(f"people/{person}/export", **query).json()
        items += page["items"]
        after = page["next"]
        if after is None:
            return items


def test_a_user_has_their_conversations_and_notes(ana: Agent, talks: dict[str, str]) -> None:
    mira = add(ana, "Mira", user_ids=["mira-1"])
    assert (mira["user_ids"], mira["speakers"], mira["merged_into"]) == (["mira-1"], [], None)
    counts = mira["counts"]
    assert (counts["conversations"], counts["messages"], counts["notes"]) == (1, len(MOVING), 1)
    assert counts["facts"] and counts["episodes"] and counts["answers"]
    for kind in KINDS:
        items = export(ana, mira["id"], kind)
        assert len(items) == counts[kind], kind
        homes = {item.get("conversation_id") or item["id"] for item in items}
        assert kind == "notes" or homes == {talks["own"]}, kind
    assert ana.get("people", user_id="mira-1").json()["items"][0]["id"] == mira["id"]
    assert ana.get("people", speaker="mira-1").json()["items"] == []


def test_a_speaker_has_what_they_said_and_what_rests_on_it(
    ana: Agent, talks: dict[str, str]
) -> None:
    mira = add(ana, "Mira", speakers=["Mira"])
    said = [content for name, content in [*MOVING, *RUNNING] if name == "Mira"]
    assert {item["content"] for item in export(ana, mira["id"], "messages")} == set(said)
    facts = export(ana, mira["id"], "facts")
    assert facts and len(facts) < Fact.objects.of(ana.tenant).count()
    mine = {item["id"] for item in export(ana, mira["id"], "messages")}
    for fact in facts:
        evidence = ana.get(f"facts/{fact['id']}").json()["evidence"]
        assert mine & {line["id"] for row in evidence for line in row["messages"]}
    homes = {item["conversation_id"] for item in export(ana, mira["id"], "answers")}
    assert homes <= {talks["own"], talks["shared"]}


def test_a_merge_can_be_undone(ana: Agent, talks: dict[str, str]) -> None:
    mira = add(ana, "Mira", user_ids=["mira-1"])
    twin = add(ana, "M.", speakers=["Mira"], user_ids=["mira-2"])
    assert_problem(ana.post("people", {"name": "X", "user_ids": ["mira-1"]}), 409)
    assert_problem(ana.post("people", {"name": "X"}), 400)
    into = {**WHY, "into_id": mira["id"]}
    whole = ana.post(f"people/{twin['id']}/merge", into).json()
    assert (whole["id"], whole["merged_ids"]) == (mira["id"], [twin["id"]])
    assert (whole["user_ids"], whole["speakers"]) == (["mira-1", "mira-2"], ["Mira"])
    assert whole["counts"]["messages"] > mira["counts"]["messages"]
    assert ana.get(f"people/{twin['id']}").json()["merged_into"] == mira["id"]
    assert_problem(ana.post(f"people/{twin['id']}/merge", into), 409)
    assert_problem(ana.post(f"people/{mira['id']}/merge", into), 409)
    back = {**WHY, "into_id": twin["id"]}
    assert_problem(ana.post(f"people/{mira['id']}/merge", back), 409)
    assert ana.post(f"people/{twin['id']}/unmerge", WHY).status_code == 200
    assert_problem(ana.post(f"people/{twin['id']}/unmerge", WHY), 409)
    assert ana.get(f"people/{mira['id']}").json() == mira
    kept = Merge.objects.of(ana.tenant).get()
    assert (kept.actor, kept.reason) == ("key ana", WHY["reason"])
    assert (kept.undone_by, kept.undone_because) == ("key ana", WHY["reason"])


@pytest.mark.parametrize("held", ["own", "shared"])
def test_nobody_is_erased_of_whom_something_is_on_hold(
    ana: Agent, talks: dict[str, str], held: str
) -> None:
    mira = add(ana, "Mira", user_ids=["mira-1"], speakers=["Mira"])
    home = Conversation.objects.of(ana.tenant).get(external_id=talks[held])
    hold = place_hold(tenant=ana.tenant, conversation_id=home.id, actor="ana", reason="Case 4711.")
    wish = {"scope": "person", "id": mira["id"], "reason": "Asked for by letter."}
    assert_problem(ana.post("erasures", wish), 409)
    assert Message.objects.of(ana.tenant).filter(name="Mira").exists()
    lift_hold(tenant=ana.tenant, hold_id=hold.id, actor="ana")
    other = Conversation.objects.of(ana.tenant).get(external_id=talks["others"])
    place_hold(tenant=ana.tenant, conversation_id=other.id, actor="ana", reason="Case 4712.")
    assert ana.post("erasures", wish).json()["scope"] == "person"


def test_a_person_is_erased_everywhere(ana: Agent, cleo: Agent, talks: dict[str, str]) -> None:
    mira = add(ana, "Mira", user_ids=["mira-1"])
    twin = add(ana, "M.", speakers=["Mira"])
    ana.post(f"people/{twin['id']}/merge", {**WHY, "into_id": mira["id"]})
    wish = {"scope": "person", "id": mira["id"], "reason": "Asked for by letter."}
    assert_problem(cleo.post("erasures", wish), 404)
    tables: list[type[TenantModel]] = [Message, Fact, Note, Person, Retrieval]
    before = [table.objects.of(ana.tenant).count() for table in tables]
    preview = ana.post("erasures", {**wish, "dry_run": True}).json()
    assert [table.objects.of(ana.tenant).count() for table in tables] == before
    erased = ana.post("erasures", wish).json()
    assert (erased["state"], erased["counts"]) == ("done", preview["counts"])
    assert (erased["counts"]["people"], erased["counts"]["notes"]) == (2, 1)
    assert erased["counts"]["messages"] == len(MOVING) + len(RUNNING)  # with Jonas' replies
    assert not Person.objects.of(ana.tenant).exists() and not Alias.objects.of(ana.tenant).exists()
    assert not Message.objects.of(ana.tenant).filter(name="Mira").exists()
    assert not Conversation.objects.of(ana.tenant).filter(user_id="mira-1").exists()
    left = {row.conversation.external_id for row in Fact.objects.of(ana.tenant)}
    assert uuid.UUID(talks["own"]) not in left
    assert ana.get("facts", user_id="olga-1").json()["items"]
    assert Note.objects.of(ana.tenant).get().user_id == "olga-1"
    assert "Mira" not in json.dumps(ana.get(f"erasures/{erased['id']}").json())
    assert_problem(ana.get(f"people/{mira['id']}"), 404)

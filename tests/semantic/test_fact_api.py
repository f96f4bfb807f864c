"""One memory by its id: what it is, what it comes from, and what has become of it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodic.models import Episode, Message
from semantic.models import Change, Changeset, Evidence, Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def read(agent: Agent, call: str, **query: Any) -> dict[str, Any]:
    answer = agent.get(call, **query)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def pick_fact(agent: Agent) -> Fact:
    """Return a fact that names the messages which say it."""
    known = Evidence.objects.of(agent.tenant).exclude(message_seqs=[]).order_by("id")
    return known[0].fact


def correct(agent: Agent, fact_id: Any, sentence: str) -> dict[str, Any]:
    answer = agent.post(f"facts/{fact_id}/correct", {"fact": sentence, "reason": "She said so."})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_a_fact_leads_to_the_messages_that_say_it(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    shown = read(ana, f"facts/{fact.id}")
    listed = read(ana, "facts", state="all", limit=200)["items"]
    assert {name: shown[name] for name in listed[0]} in listed
    assert shown["evidence"] and {row["withdrawn_by"] for row in shown["evidence"]} == {None}
    for row in shown["evidence"]:
        episode = read(ana, f"episodes/{row['episode_id']}")
        said = {message["seq"]: message["message_id"] for message in episode["messages"]}
        for seq in row["message_seqs"]:
            message = read(ana, f"messages/{said[seq]}")
            assert (message["seq"], message["episode_id"]) == (seq, episode["id"])
            assert message["content"] == Message.objects.of(ana.tenant).get(id=said[seq]).content


def test_a_fact_tells_which_run_brought_it_in(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    shown = read(ana, f"facts/{fact.id}")
    first = shown["history"][0]
    assert (first["action"], first["kind"], first["actor"]) == (
        "new",
        "consolidation",
        fact.changeset.actor,
    )
    assert first["changeset_id"] == shown["changeset_id"] == str(fact.changeset_id)
    assert first["before"] is None
    assert first["after"] == {"because": None, "valid_until": None, "superseded_by": None}
    assert [version["id"] for version in shown["versions"]] == [str(fact.id)]


def test_each_version_of_a_fact_shows_the_whole_chain(ana: Agent, told: uuid.UUID) -> None:
    first = pick_fact(ana)
    chain = [str(first.id)]
    for sentence in ("Mira keeps bees.", "Mira keeps goats."):
        chain.append(correct(ana, chain[-1], sentence)["id"])
    for fact_id in chain:
        versions = read(ana, f"facts/{fact_id}")["versions"]
        assert [version["id"] for version in versions] == chain
        assert [version["superseded_by"] for version in versions] == [*chain[1:], None]
    middle = read(ana, f"facts/{chain[1]}")
    assert [step["action"] for step in middle["history"]] == ["update", "update"]
    opened, closed = middle["history"]
    assert (opened["before"], closed["after"]["because"]) == (None, "wrong")
    assert closed["after"]["superseded_by"] == chain[2]
    assert closed["reason"] == "She said so." and closed["actor"] == "key ana"


def test_evidence_that_was_taken_back_is_shown_and_does_not_count(
    ana: Agent, told: uuid.UUID
) -> None:
    fact = pick_fact(ana)
    run = read(ana, f"changesets/{fact.changeset_id}")
    other = Changeset.objects.create(
        tenant=ana.tenant, conversation=fact.conversation, kind="curation", actor="x"
    )
    Evidence.objects.of(ana.tenant).filter(fact=fact).update(withdrawn_by=other)
    shown = read(ana, f"facts/{fact.id}")
    assert shown["source_episodic_ids"] == []
    assert {row["withdrawn_by"] for row in shown["evidence"]} == {str(other.id)}
    assert {row["changeset_id"] for row in shown["evidence"]} == {run["id"]}


def test_an_episode_shows_its_messages_and_what_was_learnt_from_it(
    ana: Agent, told: uuid.UUID
) -> None:
    episode = Episode.objects.of(ana.tenant).order_by("id")[0]
    shown = read(ana, f"episodes/{episode.id}")
    assert {name: shown[name] for name in ("id", "title", "surprise")} == {
        "id": str(episode.id),
        "title": episode.title,
        "surprise": episode.surprise,
    }
    inside = list(range(episode.first_seq, episode.last_seq + 1))
    assert [message["seq"] for message in shown["messages"]] == inside
    supported = Evidence.objects.of(ana.tenant).filter(episode=episode)
    assert {fact["id"] for fact in shown["facts"]} == {str(row.fact_id) for row in supported}
    assert all(set(fact["message_seqs"]) <= set(inside) for fact in shown["facts"])


def test_a_receipt_is_found_by_the_id_that_came_with_the_answer(
    ana: Agent, told: uuid.UUID
) -> None:
    body = {"conversation_id": str(told), "query": "Where is Mira moving?"}
    answer = ana.post("retrieve_memory", body)
    shown = read(ana, f"retrievals/{answer['Memory-Receipt']}")
    assert (shown["query"], shown["asked_by"]) == (body["query"], "ana")
    assert shown["conversation_id"] == str(told) and shown["hits"]
    assert read(ana, "retrievals")["items"] == [shown]


def test_a_receipt_of_a_conversation_that_is_not_there_names_none(ana: Agent) -> None:
    body = {"conversation_id": str(uuid.uuid4()), "query": "Where is Mira moving?"}
    answer = ana.post("retrieve_memory", body)
    assert read(ana, f"retrievals/{answer['Memory-Receipt']}")["conversation_id"] is None


def test_a_changeset_shows_each_step_with_what_it_opened(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    shown = read(ana, f"changesets/{fact.changeset_id}")
    assert (shown["kind"], shown["conversation_id"]) == ("consolidation", str(told))
    assert (shown["reverts"], shown["reverted_by"], shown["next"]) == (None, None, None)
    steps = Change.objects.of(ana.tenant).filter(changeset=fact.changeset_id)
    assert [step["position"] for step in shown["changes"]] == list(range(steps.count()))
    (opening,) = [step for step in shown["changes"] if step["memory_id"] == str(fact.id)]
    assert opening["action"] == "new"
    assert [(state["fact_id"], state["before"]) for state in opening["states"]] == [
        (str(fact.id), None)
    ]


def test_the_steps_of_a_changeset_come_in_pages(ana: Agent, told: uuid.UUID) -> None:
    address = f"changesets/{pick_fact(ana).changeset_id}"
    whole = read(ana, address)["changes"]
    assert len(whole) > 2
    pages: list[Any] = []
    after: dict[str, Any] = {}
    while True:
        page = read(ana, address, limit=2, **after)
        pages += page["changes"]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert pages == whole
    assert_problem(ana.get(address, limit="0"), 400, "limit")
    assert_problem(ana.get(address, page="2"), 400, "page")


def test_changesets_are_filtered_by_conversation_and_kind(ana: Agent, told: uuid.UUID) -> None:
    correct(ana, pick_fact(ana).id, "Mira keeps bees.")
    whole = read(ana, "changesets", conversation_id=told)["items"]
    assert [row["kind"] for row in whole] == ["curation", "consolidation"]
    assert read(ana, "changesets", kind="curation")["items"] == whole[:1]
    assert read(ana, "changesets", conversation_id=uuid.uuid4())["items"] == []
    for kind in ("", "Curation", "1"):
        assert_problem(ana.get("changesets", kind=kind), 400, "kind")


def test_a_colleague_reads_the_same_and_a_stranger_nothing(
    ana: Agent, bo: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    fact = pick_fact(ana)
    answer = ana.post("retrieve_memory", {"conversation_id": str(told), "query": "piano"})
    calls = [
        f"facts/{fact.id}",
        f"episodes/{Episode.objects.of(ana.tenant)[0].id}",
        f"messages/{Message.objects.of(ana.tenant)[0].id}",
        f"changesets/{fact.changeset_id}",
        f"retrievals/{answer['Memory-Receipt']}",
    ]
    for call in calls:
        assert read(bo, call) == read(ana, call)
        assert_problem(cleo.get(call), 404)
    assert cleo.get("changesets").json()["items"] == []


def test_a_fact_costs_the_same_queries_however_long_its_history(
    ana: Agent, told: uuid.UUID
) -> None:
    counts = []
    fact_id: Any = pick_fact(ana).id
    for round_ in range(4):
        with CaptureQueriesContext(connection) as asked:
            read(ana, f"facts/{fact_id}")
        # Whether the key is looked up again depends on the clock.
        counts.append(len([one for one in asked if "tenancy_apikey" not in one["sql"]]))
        fact_id = correct(ana, fact_id, f"Mira keeps {round_ + 2} goats.")["id"]
    assert len(set(counts[1:])) == 1 and max(counts) <= 8, counts

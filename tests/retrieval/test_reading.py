"""A memory is peeked at without its content, and read within a limit."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Episode, Message
from memoryproject.ai.counting import COUNTERS
from memoryproject.text import tokens
from semantic.models import Evidence, Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import link, write
from tests.notes.test_writing import EVERYTHING, PLAN, THREAD, add
from tests.retrieval.counting import counted_by

pytestmark = pytest.mark.django_db

LONG = " ".join(f"Sentence number {number} tells of tea." for number in range(200))


def peek(agent: Agent, memory: Any) -> dict[str, Any]:
    """Return what is known about a memory."""
    answer = agent.get(f"memories/{memory}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def chunk(agent: Agent, memory: Any, **given: Any) -> dict[str, Any]:
    """Return a memory's content within a limit."""
    answer = agent.post(f"memories/{memory}/chunk", {"max_tokens": 1000, **given})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    assert body["token_count"] == tokens.count_tokens(body["content"])
    assert body["token_count"] <= given.get("max_tokens", 1000)
    return body


# ---- peek


def test_a_note_is_peeked_at_without_its_content(ana: Agent) -> None:
    note = write(ana, **EVERYTHING)
    found = peek(ana, note)
    assert "Then wait" not in str(found)
    assert found == {
        "id": note,
        "kind": "note",
        "source_type": "document",
        "source_id": "doc-7",
        "label": "Handbook",
        "description": "How to brew tea",
        "metadata": {"pages": 3},
        "related_ids": [],
        "related_cut": False,
        "token_estimate": tokens.count_tokens(EVERYTHING["content"]),
        "location": {"span_id": "s-1", "start_byte": 0, "end_byte": 27},
        "counter": tokens.in_use().name,
    }


def test_a_summary_is_peeked_at_with_its_metadata(ana: Agent) -> None:
    note = add(ana, source_type="thread_summary", source_id="thread-1", metadata=THREAD)["id"]
    found = peek(ana, note)
    assert (found["source_type"], found["source_id"]) == ("thread_summary", "thread-1")
    assert found["metadata"] == THREAD
    assert found["label"] == "Thread: instagram (10 messages)"
    assert found["location"] is None


def test_an_episode_is_peeked_at(ana: Agent, told: uuid.UUID) -> None:
    episode = Episode.objects.of(ana.tenant).order_by("first_seq")[0]
    found = peek(ana, episode.id)
    assert (found["kind"], found["source_type"], found["source_id"]) == (
        "episode", "episode", str(told),
    )  # fmt: skip
    assert (found["label"], found["description"]) == (episode.title, episode.summary)
    assert found["metadata"]["message_count"] == episode.last_seq - episode.first_seq + 1
    said = Message.objects.of(ana.tenant).filter(episode=episode)[0]
    assert said.content not in str(found)
    # The messages were counted one by one, when they were written.
    size = chunk(ana, episode.id, max_tokens=10_000)["token_count"]
    assert size <= found["token_estimate"] <= 1.1 * size


def test_a_fact_is_peeked_at(ana: Agent, told: uuid.UUID) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    found = peek(ana, fact.id)
    assert (found["source_type"], found["source_id"]) == ("fact", str(told))
    assert fact.fact.startswith(found["label"].removesuffix("…"))
    assert found["metadata"]["category"] == fact.category
    assert found["metadata"]["sources"] == Evidence.objects.of(ana.tenant).filter(fact=fact).count()
    assert found["metadata"]["invalid_at"] is None


def test_related_ids_go_both_ways_and_hold_what_follows_from_elsewhere(
    ana: Agent, told: uuid.UUID
) -> None:
    evidence = Evidence.objects.of(ana.tenant).order_by("id")[0]
    older, newer = write(ana, "One."), write(ana, "Two.")
    link(ana, older, evidence.fact_id)
    link(ana, evidence.fact_id, newer, "mentions")
    link(ana, evidence.fact_id, newer, "supports")
    related = peek(ana, evidence.fact_id)["related_ids"]
    assert related[:2] == [newer, older]
    assert str(evidence.episode_id) in related
    assert len(related) == len(set(related))
    assert str(evidence.fact_id) in peek(ana, evidence.episode_id)["related_ids"]


def test_a_look_changes_nothing_in_a_context(ana: Agent) -> None:
    note = write(ana, LONG)
    made = ana.post("contexts", {"max_tokens": 1000}).json()
    assert peek(ana, note)["token_estimate"] > 1000
    assert ana.get(f"contexts/{made['id']}").json() == made


# ---- chunk


def test_a_notes_content_comes_as_it_was_written(ana: Agent) -> None:
    note = write(ana, **EVERYTHING)
    assert chunk(ana, note) == {
        "id": note,
        "content": EVERYTHING["content"],
        "token_count": tokens.count_tokens(EVERYTHING["content"]),
        "truncated": False,
        "header": None,
        "counter": tokens.in_use().name,
        "fence": None,
    }


def test_a_header_says_what_it_is_and_counts(ana: Agent) -> None:
    note = write(ana, **EVERYTHING)
    whole = chunk(ana, note, include_header=True)
    assert whole["header"] == "[document: Handbook]\n"
    assert whole["content"] == whole["header"] + EVERYTHING["content"]
    exact = chunk(ana, note, include_header=True, max_tokens=whole["token_count"])
    assert exact == whole
    short = chunk(ana, note, include_header=True, max_tokens=whole["token_count"] - 1)
    assert short["truncated"] and short["content"].startswith(whole["header"])


@pytest.mark.parametrize("kind, metadata", [("thread_summary", THREAD), ("plan_summary", PLAN)])
def test_a_summarys_content_is_its_prose(ana: Agent, kind: str, metadata: Any) -> None:
    note = add(ana, source_type=kind, metadata=metadata)["id"]
    content = chunk(ana, note)["content"]
    points = metadata.get("key_points") or metadata["key_milestones"]
    assert all(f"- {point}" in content for point in points)


def test_an_episodes_content_is_its_title_summary_and_messages(ana: Agent, told: uuid.UUID) -> None:
    episode = Episode.objects.of(ana.tenant).order_by("first_seq")[0]
    content = chunk(ana, episode.id, max_tokens=10_000)["content"]
    assert content.startswith(f"{episode.title}\n{episode.summary}\n\n- 2026-")
    said = Message.objects.of(ana.tenant).filter(episode=episode).order_by("seq")
    places = [content.index(f': "{message.content}"') for message in said]
    assert places == sorted(places) and len(places) > 2


def test_a_facts_content_says_since_when_and_who_says_so(ana: Agent, told: uuid.UUID) -> None:
    evidence = Evidence.objects.of(ana.tenant).exclude(message_seqs=[]).order_by("id")[0]
    fact = evidence.fact
    content = chunk(ana, fact.id)["content"]
    assert content.startswith(f"{fact.fact}\n({fact.category}, true from {fact.valid_at:%Y-%m-%d}")
    said = Message.objects.of(ana.tenant).filter(seq__in=evidence.message_seqs)
    for message in said:
        assert f'{message.occurred_at:%Y-%m-%d} {message.name}: "{message.content}"' in content


def test_a_fact_that_is_over_says_so(ana: Agent, told: uuid.UUID) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    body = {"reason": "It was a joke.", "because": "wrong"}
    assert ana.post(f"facts/{fact.id}/invalidate", body).status_code == 200
    assert "retired 20" in chunk(ana, fact.id)["content"]
    assert peek(ana, fact.id)["metadata"]["invalidated_because"] == "wrong"


@pytest.mark.parametrize("strategy", ["end", "sentence", "middle"])
@pytest.mark.parametrize("limit", [1, 2, 7, 20, 50, 133, 200, 499])
def test_a_long_content_is_cut_to_each_limit(ana: Agent, strategy: str, limit: int) -> None:
    note = write(ana, LONG)
    short = chunk(ana, note, max_tokens=limit, truncation_strategy=strategy, include_header=True)
    assert short["truncated"]
    if limit > 40:
        assert short["token_count"] > limit - 12
    if strategy == "sentence" and limit > 40:
        assert short["content"].endswith("of tea. …")
    if strategy == "middle" and limit > 40:
        assert " […] " in short["content"] and short["content"].endswith("of tea.")


def test_a_chunk_is_truncated_exactly_when_the_whole_is_larger(ana: Agent) -> None:
    note = write(ana, LONG)
    full = chunk(ana, note, max_tokens=10_000)
    assert not full["truncated"] and full["content"] == LONG
    for limit in (50, full["token_count"] - 1, full["token_count"], full["token_count"] + 1):
        assert chunk(ana, note, max_tokens=limit)["truncated"] == (full["token_count"] > limit)


@pytest.mark.parametrize("name", COUNTERS)
def test_the_limit_is_kept_under_the_configured_counter(ana: Agent, name: str) -> None:
    note = write(ana, "我们上周搬到了波尔图。 id 7c1b5f3e-2d53-4d0c 😀 " * 50)
    with counted_by(name):
        for limit in (5, 60, 300):
            short = chunk(ana, note, max_tokens=limit, include_header=True)
            assert short["counter"] == name and short["truncated"]
        assert peek(ana, note)["counter"] == name


def test_a_changed_note_is_read_as_it_is_now_and_a_deleted_one_not_at_all(ana: Agent) -> None:
    note = write(ana, "Before.")
    ana.client.patch(
        f"/api/v0/notes/{note}", {"version": 1, "content": "After."},
        content_type="application/json",
    )  # fmt: skip
    assert chunk(ana, note)["content"] == "After."
    ana.client.delete(f"/api/v0/notes/{note}")
    assert_problem(ana.get(f"memories/{note}"), 404)
    assert_problem(ana.post(f"memories/{note}/chunk", {"max_tokens": 10}), 404)


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "max_tokens"),
        *(({"max_tokens": value}, "max_tokens") for value in (0, -1, 1_000_001, 5.0, "5", True)),
        ({"max_tokens": 5, "truncation_strategy": "start"}, "truncation_strategy"),
        ({"max_tokens": 5, "truncation_strategy": 1}, "truncation_strategy"),
        ({"max_tokens": 5, "include_header": 1}, "include_header"),
        ({"max_tokens": 5, "maxTokens": 5}, "maxTokens"),
    ],
)
def test_a_bad_request_is_refused_by_its_field(
    ana: Agent, body: dict[str, Any], field: str
) -> None:
    note = write(ana, "Mine.")
    assert_problem(ana.post(f"memories/{note}/chunk", body), 400, field)

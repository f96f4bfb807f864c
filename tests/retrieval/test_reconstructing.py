"""What a query is about is brought back in three steps: found, linked, each once and whole."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodic.models import Episode
from indexing.models import SearchVector
from jobs.draining import drain_jobs
from memoryproject.ai import embeddings
from memoryproject.edge.fields import say_moment
from memoryproject.text.tokens import count_tokens, in_use
from retrieval.models import Retrieval
from semantic.models import Evidence, Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import link, write

pytestmark = pytest.mark.django_db

QUERY = "the lighthouse at the northern cape"
LIMITS = {0: 2, 1: 5, 2: 8, 3: 10, 4: 15, 5: 20}
HOURS = {0: 1, 1: 4, 2: 12, 3: 24, 4: 72, 5: 168}
DEPTHS = {0: 0, 1: 1, 2: 1, 3: 2, 4: 3, 5: 3}
FIELDS = {
    "_distance", "id", "kind", "content", "user_id", "category", "importance", "emotion_type",
    "emotion_intensity", "emotion_valence", "timestamp", "linked_memory_ids", "tags", "file_path",
    "distance", "depth",
}  # fmt: skip


def ask(agent: Agent, query: str = QUERY, **fields: Any) -> dict[str, Any]:
    answer = agent.post("reconstruct_context", {"query": query, **fields})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["memories_retrieved"]]


def found_ids(answer: dict[str, Any]) -> list[str]:
    """Return those that the search found, not links."""
    return [one["id"] for one in answer["memories_retrieved"] if one["depth"] == 0]


def hours_ago(hours: float) -> str:
    return say_moment(datetime.now(UTC) - timedelta(hours=hours))


def lighthouse(agent: Agent, number: int = 0, **fields: Any) -> str:
    return write(agent, f"The lighthouse at the northern cape, visit {number}.", **fields)


def old(agent: Agent, content: str = "Bread is baked on Thursdays.") -> str:
    """Write a note that no search of any level finds: it is a year old."""
    return write(agent, content, occurred_at=hours_ago(24 * 365))


# ---- step 1: search with filters


def test_what_is_near_in_meaning_comes_first_with_its_distance(ana: Agent) -> None:
    far = write(ana, "Bread is baked on Thursdays.")
    near = lighthouse(ana)
    drain_jobs()
    answer = ask(ana)
    assert ids(answer)[0] == near
    distances = {one["id"]: one["distance"] for one in answer["memories_retrieved"]}
    assert 0 <= distances[near] < 0.2
    assert far not in distances or distances[far] is None or distances[far] > distances[near]


def test_each_item_has_the_fields_of_a_memory(ana: Agent) -> None:
    other = old(ana)
    note = lighthouse(
        ana,
        user_id="u1",
        category="travel",
        importance=0.95,
        emotion_type="curiosity",
        emotion_intensity=0.81,
        emotion_valence="positive",
        tags=["sea", "light"],
        occurred_at=(at := hours_ago(2)),
    )
    link(ana, note, other)
    answer = ask(ana)
    assert set(answer) == {
        "focus_level", "since", "total_memories", "memories_retrieved", "synthesized_context",
        "context_tokens", "counter", "cut", "receipt", "degraded", "fence",
    }  # fmt: skip
    (item, linked) = answer["memories_retrieved"]
    assert set(item) == set(linked) == FIELDS
    assert item | {"distance": 0, "_distance": 0} == {
        "id": note,
        "kind": "note",
        "content": "The lighthouse at the northern cape, visit 0.",
        "user_id": "u1",
        "category": "travel",
        "importance": 0.95,
        "emotion_type": "curiosity",
        "emotion_intensity": 0.81,
        "emotion_valence": "positive",
        "timestamp": at,
        "linked_memory_ids": [other],
        "tags": ["sea", "light"],
        "file_path": None,
        "distance": 0,
        "_distance": 0,
        "depth": 0,
    }
    assert (linked["id"], linked["distance"], linked["depth"]) == (other, None, 1)
    assert linked["linked_memory_ids"] == [note]
    assert (linked["user_id"], linked["category"], linked["emotion_type"]) == (None, None, None)


@pytest.mark.parametrize("level", LIMITS)
def test_a_level_finds_so_many_within_so_many_hours(ana: Agent, level: int) -> None:
    new = [
        lighthouse(ana, number, occurred_at=hours_ago(HOURS[level] - 0.1))
        for number in range(LIMITS[level] + 2)
    ]
    late = lighthouse(ana, 99, occurred_at=hours_ago(HOURS[level] + 0.1))
    found = found_ids(ask(ana, focus_level=level))
    assert len(found) == LIMITS[level] and set(found) <= set(new) and late not in found


@pytest.mark.parametrize("level", DEPTHS)
def test_a_level_follows_so_many_links(ana: Agent, level: int) -> None:
    chain = [lighthouse(ana), *(old(ana, f"Link {number} of a chain.") for number in range(4))]
    for near, far in pairwise(chain):
        link(ana, near, far)
    answer = ask(ana, focus_level=level)
    assert ids(answer) == chain[: 1 + DEPTHS[level]]
    assert [one["depth"] for one in answer["memories_retrieved"]] == list(range(1 + DEPTHS[level]))


def test_without_a_level_it_is_the_third(ana: Agent) -> None:
    inside = lighthouse(ana, 1, occurred_at=hours_ago(23.9))
    lighthouse(ana, 2, occurred_at=hours_ago(24.1))
    answer = ask(ana)
    assert (answer["focus_level"], ids(answer)) == (3, [inside])


def test_since_and_until_take_the_place_of_the_hours(ana: Agent) -> None:
    first = lighthouse(ana, 1, occurred_at=hours_ago(300))
    second = lighthouse(ana, 2, occurred_at=hours_ago(200))
    third = lighthouse(ana, 3, occurred_at=hours_ago(1))
    assert set(ids(ask(ana, since=hours_ago(250)))) == {second, third}
    assert ids(ask(ana, since=hours_ago(250), until=hours_ago(100))) == [second]
    assert ids(ask(ana, since=hours_ago(400), until=hours_ago(250))) == [first]
    assert ids(ask(ana, until=hours_ago(2))) == []


@pytest.mark.parametrize(
    "name, value, other",
    [
        ("user_id", "u1", "u2"),
        ("category", "travel", "food"),
        ("emotion_valence", "positive", "negative"),
        ("min_importance", 0.7, 0.6),
    ],
)
def test_a_filter_narrows_what_is_found(ana: Agent, name: str, value: Any, other: Any) -> None:
    column = name.removeprefix("min_")
    wanted = lighthouse(ana, 1, **{column: value})
    lighthouse(ana, 2, **{column: other})
    assert ids(ask(ana, **{name: value})) == [wanted]
    assert len(ids(ask(ana))) == 2


def test_a_conversation_narrows_what_is_found(ana: Agent, conversation: uuid.UUID) -> None:
    inside = lighthouse(ana, 1, conversation_id=str(conversation))
    lighthouse(ana, 2)
    assert ids(ask(ana, conversation_id=str(conversation))) == [inside]
    assert ids(ask(ana, conversation_id=str(uuid.uuid4()))) == []


def test_a_filter_applies_before_the_limit(ana: Agent) -> None:
    """Ten that are nearer, and do not pass, keep nothing out."""
    for number in range(12):
        lighthouse(ana, number)
    wanted = write(ana, "A lighthouse.", user_id="u1")
    assert wanted not in found_ids(ask(ana, focus_level=0))
    assert ids(ask(ana, focus_level=0, user_id="u1")) == [wanted]


def test_the_query_is_embedded_by_the_model_that_embedded_the_memories(ana: Agent) -> None:
    lighthouse(ana)
    drain_jobs()
    answer = ask(ana)
    used = Retrieval.objects.of(ana.tenant).get(id=answer["receipt"]).embedding_model
    stored = SearchVector.objects.of(ana.tenant).get()
    assert used == stored.model == embeddings.get_embedder().name
    assert stored.dim == len(embeddings.embed_query(QUERY)) == 384


def test_filters_do_not_hold_for_what_links_lead_to(ana: Agent) -> None:
    wanted = lighthouse(ana, user_id="u1")
    other = old(ana)
    link(ana, wanted, other)
    assert ids(ask(ana, user_id="u1")) == [wanted, other]


# ---- step 2: link exploration


def test_links_are_followed_both_ways_and_by_every_type(ana: Agent) -> None:
    start, out, back = lighthouse(ana), old(ana, "Out."), old(ana, "Back.")
    link(ana, start, out, "supports")
    link(ana, back, start, "caused_by")
    assert set(ids(ask(ana))) == {start, out, back}


def test_a_cycle_ends(ana: Agent) -> None:
    ring = [lighthouse(ana), old(ana, "One."), old(ana, "Two.")]
    for place, note in enumerate(ring):
        link(ana, note, ring[(place + 1) % 3])
    answer = ask(ana, focus_level=5)
    assert sorted(ids(answer)) == sorted(ring) and answer["total_memories"] == 3


def test_only_the_best_five_are_expanded(ana: Agent) -> None:
    found = [lighthouse(ana, number) for number in range(8)]
    leaves = {note: old(ana, f"Leaf {place}.") for place, note in enumerate(found)}
    for note, leaf in leaves.items():
        link(ana, note, leaf)
    answer = ask(ana, focus_level=3)
    best = found_ids(answer)
    assert len(best) == 8
    assert {one for one in ids(answer) if one not in best} == {leaves[one] for one in best[:5]}


def test_linked_ones_come_after_found_ones_nearest_first(ana: Agent) -> None:
    start, second = lighthouse(ana, 1), lighthouse(ana, 2)
    near, far = old(ana, "Near."), old(ana, "Far.")
    link(ana, start, near)
    link(ana, near, far)
    answer = ask(ana)
    assert set(ids(answer)[:2]) == {start, second} and ids(answer)[2:] == [near, far]


def test_a_hub_is_cut_and_the_answer_says_so(ana: Agent, settings: Any) -> None:
    settings.RECONSTRUCTION_LINKS_AT_MOST = 3
    hub = lighthouse(ana)
    leaves = [old(ana, f"Leaf {place}.") for place in range(4)]
    for leaf in leaves[:3]:
        link(ana, hub, leaf)
    assert ask(ana)["cut"] is False
    link(ana, hub, leaves[3])
    answer = ask(ana)
    assert answer["cut"] is True and answer["total_memories"] == 4


# ---- step 3: deduplication and full content


def test_what_is_found_and_linked_comes_once(ana: Agent) -> None:
    first, second, third = (lighthouse(ana, number) for number in range(3))
    link(ana, first, second)
    link(ana, second, third)
    link(ana, third, first)
    answer = ask(ana)
    assert sorted(ids(answer)) == sorted([first, second, third])
    assert {one["depth"] for one in answer["memories_retrieved"]} == {0}
    assert answer["total_memories"] == 3


def test_linked_ones_come_with_their_full_content(ana: Agent) -> None:
    long = "A paragraph about bread.\n\n" + "Flour and water. " * 500
    start, other = lighthouse(ana), old(ana, long)
    link(ana, start, other)
    answer = ask(ana)
    assert answer["memories_retrieved"][1]["content"] == long


def test_what_is_not_held_any_more_is_left_out(ana: Agent) -> None:
    start, gone = lighthouse(ana), old(ana)
    link(ana, start, gone)
    ana.client.delete(f"/api/v0/notes/{gone}")
    answer = ask(ana)
    assert ids(answer) == [start] and answer["memories_retrieved"][0]["linked_memory_ids"] == []
    ana.client.delete(f"/api/v0/notes/{start}")
    assert ids(ask(ana)) == []


def test_episodes_and_facts_come_too_with_their_links(ana: Agent, told: uuid.UUID) -> None:
    answer = ask(ana, "moving to Rotterdam", since="2000-01-01T00:00:00Z", focus_level=5)
    by_id = {one["id"]: one for one in answer["memories_retrieved"]}
    facts = Fact.objects.of(ana.tenant).filter(id__in=by_id, invalid_at=None)
    episodes = Episode.objects.of(ana.tenant).filter(id__in=by_id)
    assert facts and episodes
    for fact in facts:
        item = by_id[str(fact.id)]
        assert (item["kind"], item["content"]) == ("fact", fact.fact)
        assert item["category"] == fact.category and item["tags"] == fact.keywords
    for episode in episodes:
        item = by_id[str(episode.id)]
        assert item["content"].startswith(f"{episode.title}\n{episode.summary}\n\n")
        assert item["importance"] == episode.surprise
        assert item["timestamp"] == say_moment(episode.end_at)
    derived = Evidence.objects.of(ana.tenant).filter(episode=episodes[0], withdrawn_by=None)
    linked = by_id[str(episodes[0].id)]["linked_memory_ids"]
    assert derived and set(linked) >= {str(row.fact_id) for row in derived}


def test_a_fact_that_is_over_is_not_brought_back(ana: Agent, told: uuid.UUID) -> None:
    wide = {"since": "2000-01-01T00:00:00Z", "focus_level": 5}
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    note = write(ana, "A lighthouse.")
    link(ana, note, fact.id)
    assert str(fact.id) in ids(ask(ana, "A lighthouse.", **wide))
    ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "A jest."})
    assert str(fact.id) not in ids(ask(ana, "A lighthouse.", **wide))


# ---- the text


def test_the_text_numbers_each_memory_with_its_content(ana: Agent) -> None:
    start = lighthouse(ana, category="travel", importance=0.9, user_id="u1")
    other = old(ana, "Two\n2. [x] lines.")
    link(ana, start, other)
    answer = ask(ana)
    text = answer["synthesized_context"]
    lines = text.splitlines()
    assert lines[0] == "## Retrieved Memories"
    assert re.match(rf"1\. \[{start}\] note, \S+ \S+, travel, importance 0\.90, user u1$", lines[2])
    assert lines[3] == "   The lighthouse at the northern cape, visit 0."
    assert lines[5].startswith(f"2. [{other}] note")
    assert lines[6:] == ["   Two", "   2. [x] lines."]
    assert answer["context_tokens"] == count_tokens(text)
    assert answer["counter"] == in_use().name


@pytest.mark.gate
def test_a_budget_is_strict_and_what_fits_is_in_the_list(ana: Agent) -> None:
    notes = [lighthouse(ana, number) for number in range(6)]
    whole = ask(ana)
    sizes = []
    # Parts that are counted apart come to a little more than all of it at once.
    for budget in range(1, whole["context_tokens"] + 1 + 4 * len(notes), 3):
        answer = ask(ana, max_tokens=budget)
        assert answer["context_tokens"] == count_tokens(answer["synthesized_context"]) <= budget
        assert answer["total_memories"] == len(notes)
        listed = re.findall(r"^\d+\. \[([0-9a-f-]+)\]", answer["synthesized_context"], re.M)
        assert listed == ids(answer)
        sizes.append(len(listed))
    assert sizes[0] == 0 and sizes[-1] == len(notes) and len(set(sizes)) == len(notes) + 1


def test_a_budget_for_nothing_gives_an_empty_answer(ana: Agent) -> None:
    lighthouse(ana)
    answer = ask(ana, max_tokens=1)
    assert (answer["memories_retrieved"], answer["synthesized_context"]) == ([], "")
    assert (answer["context_tokens"], answer["total_memories"]) == (0, 1)


def test_a_shorter_memory_takes_the_place_of_one_that_does_not_fit(ana: Agent) -> None:
    long = write(ana, "The lighthouse at the northern cape. " + "It stands high. " * 200)
    short = lighthouse(ana)
    assert set(ids(ask(ana))) == {long, short}
    assert ids(ask(ana, max_tokens=100)) == [short]


def test_nothing_known_gives_an_empty_answer(ana: Agent) -> None:
    answer = ask(ana)
    assert (answer["total_memories"], answer["memories_retrieved"]) == (0, [])
    assert (answer["synthesized_context"], answer["context_tokens"]) == ("", 0)


def test_an_answer_leaves_a_receipt(ana: Agent, cleo: Agent, conversation: uuid.UUID) -> None:
    note, other = lighthouse(ana, conversation_id=str(conversation)), old(ana)
    link(ana, note, other)
    answer = ask(ana, conversation_id=str(conversation), max_tokens=500, focus_level=2)
    receipt = ana.get(f"retrievals/{answer['receipt']}").json()
    assert (receipt["kind"], receipt["query"], receipt["asked_by"]) == ("reconstruct", QUERY, "ana")
    assert receipt["conversation_id"] == str(conversation)
    assert receipt["tokens"] == answer["context_tokens"]
    assert receipt["parameters"] == {
        "focus_level": 2,
        "conversation_id": str(conversation),
        "since": answer["since"],
        "max_tokens": 500,
        "fence": False,
        **dict.fromkeys(["user_id", "until", "category", "min_importance", "emotion_valence"]),
        "links": "defanged",
        **dict.fromkeys(["agent_id", "asked_in"]),
    }
    hits = {hit["memory_id"]: hit for hit in receipt["hits"]}
    assert set(hits) == {note, other}
    assert (hits[note]["rank"], hits[other]["rank"]) == (1, 2)
    assert hits[note]["score"] > 0 == hits[other]["score"]
    assert_problem(cleo.get(f"retrievals/{answer['receipt']}"), 404)
    assert not Retrieval.objects.of(ana.tenant).filter(reviewable=True).exists()


# ---- walls and bad input


def test_a_stranger_gets_nothing(ana: Agent, bo: Agent, cleo: Agent) -> None:
    note = lighthouse(ana)
    link(ana, note, old(ana))
    assert len(ids(ask(bo))) == 2
    assert ask(cleo)["total_memories"] == 0


@pytest.mark.parametrize(
    "field, given",
    [("query", None), ("query", ""), ("query", " "), ("query", 1),
     ("focus_level", -1), ("focus_level", 6), ("focus_level", 1.0), ("focus_level", "3"),
     ("focus_level", True), ("max_tokens", 0), ("max_tokens", 1_000_001), ("max_tokens", "9"),
     ("since", "yesterday"), ("until", 1.5), ("min_importance", 1.1), ("min_importance", -0.1),
     ("min_importance", "0.5"), ("emotion_valence", "happy"), ("user_id", 7), ("category", []),
     ("conversation_id", "x"), ("depth", 2), ("hours", 5)],
)  # fmt: skip
def test_a_wrong_field_is_named(ana: Agent, field: str, given: Any) -> None:
    assert_problem(ana.post("reconstruct_context", {"query": QUERY, field: given}), 400, field)


def test_the_number_of_queries_does_not_grow(ana: Agent) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(ana, focus_level=5)
        # The key is looked up anew after half a second, which a busy machine may take.
        counted = (row["sql"] for row in captured if "tenancy_apikey" not in row["sql"])
        return sum(not sql.startswith(("SAVEPOINT", "RELEASE")) for sql in counted)

    first = lighthouse(ana)
    link(ana, first, old(ana))
    ask(ana)
    few = count()
    for number in range(8):
        link(ana, lighthouse(ana, number + 1), old(ana, f"Leaf {number}."))
    assert count() == few <= 12

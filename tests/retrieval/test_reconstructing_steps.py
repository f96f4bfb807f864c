"""The specification's steps of bringing back a context, one by one, in its order.

| step | proven |
|---|---|
| 1.1 the query is embedded | here |
| 1.2 search by nearness in meaning | here; `test_reconstructing.py`, `test_finding.py` |
| 1.3 filters: user, category, importance, valence, since, until | here; `test_reconstructing.py` |
| 1.4 the limit, and parsed fields | here; `test_reconstructing.py` |
| the fallback: text search in files | `tests/reliability/test_mirror_stands_in.py`, \
`test_mirror_search.py` |
| 2.1, 2.2 links, breadth first, both ways, level by level | here; `tests/notes/test_walks.py` |
| deduplication, full content of what is linked | here; `test_reconstructing.py` |
| levels of focus: limits, hours, depths | `test_reconstructing.py` |
| where pages lie and what they hold | `test_mirror.py` |
| the text and its figures | here; `test_reconstructing.py` |
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from indexing.models import SearchVector
from jobs.draining import drain_jobs
from memoryproject.ai import embeddings
from memoryproject.edge.fields import say_moment
from memoryproject.text.tokens import count_tokens
from retrieval.models import Retrieval
from tests.conftest import Agent
from tests.notes.graphs import link, write
from tests.retrieval.test_reconstructing import ask, found_ids, ids, lighthouse, old
from wings.navigation import links, reconstruction

pytestmark = pytest.mark.django_db

QUERY = "the lighthouse at the northern cape"


def bring_back(agent: Agent, query: str = QUERY, **fields: Any) -> reconstruction.Reconstruction:
    """Ask the service."""
    answer, _ = reconstruction.bring_back(
        tenant=agent.tenant,
        request=reconstruction.ReconstructRequest(query=query, **fields),
        now=timezone.now(),
    )
    return answer


# ---- 1.1


def test_the_query_is_embedded_by_the_model_that_embedded_the_memories(ana: Agent) -> None:
    lighthouse(ana)
    drain_jobs()
    answer = ask(ana)
    used = Retrieval.objects.of(ana.tenant).get(id=answer["receipt"]).embedding_model
    stored = SearchVector.objects.of(ana.tenant).get()
    assert used == stored.model == embeddings.get_embedder().name
    assert stored.dim == len(embeddings.embed_query(QUERY)) == 384


# ---- 1.2


def test_distances_are_those_of_the_vectors_and_the_nearest_comes_first(ana: Agent) -> None:
    notes = {
        write(ana, content): content
        for content in (
            "A tower with a lamp guides ships past the rocks.",
            "The lighthouse at the northern cape was painted white.",
            "Sailors see the beacon from far away at night.",
        )
    }
    drain_jobs()
    asked = embeddings.embed_query(QUERY)
    expected = {
        str(row.memory_id): 1 - float(asked @ np.asarray(row.embedding))
        for row in SearchVector.objects.of(ana.tenant)
    }
    found = ask(ana)["memories_retrieved"]
    assert found and {one["id"] for one in found} <= set(notes)
    near = [one for one in found if one["distance"] is not None]
    for one in near:
        assert one["distance"] == pytest.approx(expected[one["id"]], abs=0.002)
    assert found[0]["id"] == min(expected, key=lambda memory: expected[memory])


# ---- 1.3


def test_all_filters_hold_together(ana: Agent) -> None:
    now = datetime.now(UTC)
    fields = {
        "user_id": "u1",
        "category": "travel",
        "importance": 0.8,
        "emotion_valence": "positive",
        "occurred_at": say_moment(now - timedelta(hours=30)),
    }
    wanted = lighthouse(ana, 1, **fields)
    for number, (name, other) in enumerate(
        {
            "user_id": "u2",
            "category": "food",
            "importance": 0.7,
            "emotion_valence": "negative",
            "occurred_at": say_moment(now - timedelta(hours=50)),
        }.items()
    ):
        lighthouse(ana, number + 2, **(fields | {name: other}))
    lighthouse(ana, 9, **(fields | {"occurred_at": say_moment(now)}))
    narrow = {
        "user_id": "u1",
        "category": "travel",
        "min_importance": 0.8,
        "emotion_valence": "positive",
    }
    since, until = now - timedelta(hours=40), now - timedelta(hours=20)
    given = {"since": say_moment(since), "until": say_moment(until)}
    assert ids(ask(ana, **narrow, **given)) == [wanted]
    assert len(ids(ask(ana, since=given["since"]))) == 6
    (one,) = bring_back(ana, **narrow, since=since, until=until).recalled
    assert str(one.memory.id) == wanted


def test_a_filter_applies_before_the_limit(ana: Agent) -> None:
    """Ten that are nearer, and do not pass, keep nothing out."""
    for number in range(12):
        lighthouse(ana, number)
    wanted = write(ana, "A lighthouse.", user_id="u1")
    assert wanted not in found_ids(ask(ana, focus_level=0))
    assert ids(ask(ana, focus_level=0, user_id="u1")) == [wanted]


# ---- 1.4


def test_no_more_than_the_limit_come_with_lists_as_lists(ana: Agent) -> None:
    notes = [lighthouse(ana, number, tags=["sea", "light"]) for number in range(12)]
    link(ana, notes[0], notes[1])
    found = ask(ana, focus_level=3)["memories_retrieved"]
    assert len(found) == 10
    assert {tuple(one["tags"]) for one in found} == {("sea", "light")}
    linked = {one["id"]: one["linked_memory_ids"] for one in found}
    assert linked.get(notes[0], [notes[1]]) == [notes[1]]
    assert linked.get(notes[1], [notes[0]]) == [notes[0]]


# ---- 2.1 and 2.2


def test_the_first_level_is_what_is_linked_directly_and_the_second_what_that_is_linked_with(
    ana: Agent,
) -> None:
    """From A to B, C and D, and from these to E, F and G; A itself is not among them."""
    a = lighthouse(ana)
    b, c, d, e, f, g = (old(ana, f"Note {name}.") for name in "BCDEFG")
    for near, far in ((a, b), (c, a), (a, d), (b, e), (f, c), (d, g), (e, g), (g, b)):
        link(ana, near, far)
    levels = {0: {a: 0}, 1: dict.fromkeys([b, c, d], 1), 2: dict.fromkeys([e, f, g], 2)}
    for level, depth in ((0, 0), (1, 1), (3, 2), (5, 3)):
        expected: dict[str, int] = {}
        for reached in range(min(depth, 2) + 1):
            expected |= levels[reached]
        answer = ask(ana, focus_level=level)
        depths = {one["id"]: one["depth"] for one in answer["memories_retrieved"]}
        assert depths == expected
        assert answer["total_memories"] == len(expected)
    around = links.walk_from(tenant=ana.tenant, starts=[uuid.UUID(a)], depth=2)
    assert {str(node.id) for node in around.nodes} == {b, c, d, e, f, g}


# ---- deduplication, full content


def test_what_was_found_is_taken_out_of_what_is_linked_and_the_rest_comes_whole(
    ana: Agent,
) -> None:
    found = [lighthouse(ana, number) for number in range(10)]
    linked = [old(ana, f"Linked note {number}. " * 40) for number in range(3)]
    best = found_ids(ask(ana))[:5]
    for place in range(3):
        link(ana, best[place], best[place + 1])
        link(ana, best[place], linked[place])
        link(ana, best[place + 1], linked[place])
    answer = ask(ana)
    assert sorted(ids(answer)) == sorted([*found, *linked])
    assert answer["total_memories"] == 13
    contents = {one["id"]: one["content"] for one in answer["memories_retrieved"]}
    for place, memory in enumerate(linked):
        assert contents[memory] == f"Linked note {place}. " * 40


# ---- the text and its figures


def test_the_text_holds_every_memory_once_and_the_figures_are_those_of_the_text(
    ana: Agent,
) -> None:
    note = lighthouse(ana)
    other = old(ana)
    link(ana, note, other)
    answer = ask(ana)
    text = answer["synthesized_context"]
    assert answer["total_memories"] == len(answer["memories_retrieved"]) == 2
    assert [text.count(memory) for memory in (note, other)] == [1, 1]
    assert text.index(f"1. [{note}]") < text.index(f"2. [{other}]")
    assert answer["context_tokens"] == count_tokens(text)


def test_the_service_brings_back_what_the_call_answers(ana: Agent, told: uuid.UUID) -> None:
    note = write(ana, "Mira moves to Rotterdam.", importance=0.9, user_id="u1")
    link(ana, note, old(ana))
    since = datetime(2000, 1, 1, tzinfo=UTC)
    answer = ask(ana, "moving to Rotterdam", focus_level=5, since=say_moment(since))
    service = bring_back(ana, "moving to Rotterdam", focus_level=5, since=since)
    assert service.total == answer["total_memories"] > 3
    assert service.text == answer["synthesized_context"]
    assert service.tokens == answer["context_tokens"]
    shown = [
        (one["id"], one["content"], one["depth"], one["distance"], one["linked_memory_ids"])
        for one in answer["memories_retrieved"]
    ]
    assert shown == [
        (
            str(one.memory.id),
            one.memory.content,
            one.depth,
            one.distance,
            [str(memory) for memory in one.linked_ids],
        )
        for one in service.recalled
    ]
    assert Retrieval.objects.of(ana.tenant).count() == 1, "the service alone writes no receipt"

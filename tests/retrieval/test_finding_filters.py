"""Each filter of a search, its orders, and its hops along links."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest

from episodic.models import Episode
from semantic.models import Evidence, Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, link, write
from tests.retrieval.searches import fill, found, search

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("narrow", "names"),
    [
        ({"source_types": ["thread_summary"]}, {"thread"}),
        ({"source_types": ["plan_summary", "knowledge_base"]}, {"plan", "faq"}),
        ({"source_types": ["episode", "fact"]}, set()),
        ({"source_ids": ["kb-1"]}, {"faq"}),
        ({"source_ids": ["kb-1", "kb-2"], "source_types": ["note"]}, set()),
        ({"user_id": "user-1"}, {"faq"}),
        ({"user_id": "user-2"}, set()),
        ({"category": "sales"}, {"faq"}),
        ({"tag": "prices"}, {"faq"}),
        ({"tag": "price"}, set()),
        ({"min_importance": 0.9}, {"faq"}),
        ({"min_importance": 0.91}, set()),
        ({"emotion_valence": "neutral"}, {"faq"}),
        ({"emotion_valence": "positive"}, set()),
        ({"since": "2026-05-02T10:00:00Z"}, {"thread", "plan", "faq"}),
        ({"until": "2026-05-02T10:00:00Z"}, {"faq", "kettle"}),
        ({"since": "2026-05-03T10:00:00Z", "until": "2026-05-03T10:00:00Z"}, {"thread"}),
        ({"conversation_id": UNKNOWN}, set()),
    ],
)
def test_a_filter_keeps_what_passes_it(ana: Agent, narrow: dict[str, Any], names: set[str]) -> None:
    notes = fill(ana)
    wanted = {notes[name] for name in names}
    answer = search(ana, "*", **narrow)
    assert {item["id"] for item in answer["items"]} == wanted
    assert answer["total_count"] == len(wanted)
    every = set(found(ana, "pricing plan calendar kettle"))
    assert every == set(notes.values())
    assert set(found(ana, "pricing plan calendar kettle", **narrow)) == wanted


def test_the_filters_hold_for_facts_and_episodes_too(ana: Agent, told: uuid.UUID) -> None:
    note = write(ana, "A note of the talk.", conversation_id=str(told), importance=0)
    fill(ana)
    facts = {
        str(one)
        for one in Fact.objects.of(ana.tenant).filter(invalid_at=None).values_list("id", flat=True)
    }
    episodes = {str(one.id): one for one in Episode.objects.of(ana.tenant)}

    def every(**narrow: Any) -> set[str]:
        return set(found(ana, "*", max_results=100, **narrow))

    assert every(conversation_id=str(told)) == {note, *facts, *episodes}
    assert every(source_ids=[str(told)]) == {*facts, *episodes}
    assert every(source_types=["fact"]) == facts
    assert every(source_types=["episode"]) == set(episodes)
    (category,) = (
        Fact.objects.of(ana.tenant).filter(invalid_at=None).values_list("category", flat=True)[:1]
    )
    assert set() != every(category=category) <= facts
    last = max(episodes.values(), key=lambda episode: episode.end_at)
    since = last.end_at.isoformat()
    assert every(source_types=["episode"], since=since) == {str(last.id)}
    surprising = {one for one, row in episodes.items() if row.surprise >= 0.3}
    assert every(source_types=["episode"], min_importance=0.3) == surprising
    assert every(conversation_id=str(told), min_importance=0.5) >= facts
    assert every(conversation_id=str(told), user_id="user-1") == set()
    assert every(conversation_id=str(told), tag="prices") == set()


def test_a_filter_applies_before_any_limit(ana: Agent, settings: Any) -> None:
    settings.SEARCH_CANDIDATES_AT_MOST = 3
    for number in range(8):
        write(ana, f"Pricing of plan {number}.")
    wanted = write(ana, "Pricing of the last plan.", user_id="user-1")
    assert found(ana, "pricing", user_id="user-1") == [wanted]
    assert found(ana, "pricing", user_id="user-1", max_results=1) == [wanted]


def test_the_importance_of_a_fact_grows_with_its_evidence(ana: Agent, told: uuid.UUID) -> None:
    counts = Counter(
        Evidence.objects.of(ana.tenant).filter(withdrawn_by=None).values_list("fact_id", flat=True)
    )
    for item in search(ana, "*", source_types=["fact"], max_results=100)["items"]:
        sources = counts[uuid.UUID(item["id"])]
        assert item["importance"] == pytest.approx(0.5 + 0.1 * min(max(sources - 1, 0), 4))
    for item in search(ana, "*", source_types=["episode"])["items"]:
        assert item["importance"] == Episode.objects.of(ana.tenant).get(id=item["id"]).surprise


def test_the_least_relevance_keeps_what_has_it(ana: Agent) -> None:
    fill(ana)
    items = search(ana, "pricing plan")["items"]
    shares = [item["relevance"] for item in items]
    assert len(set(shares)) > 1
    middle = shares[1]
    answer = search(ana, "pricing plan", min_relevance=middle)
    assert [item["id"] for item in answer["items"]] == [
        item["id"] for item in items if item["relevance"] >= middle
    ]
    assert answer["total_count"] == len(answer["items"]) < len(items)


def test_by_recency_the_newest_comes_first(ana: Agent, told: uuid.UUID) -> None:
    notes = fill(ana)
    items = search(ana, "*", sort_by="recency", max_results=100)["items"]
    times = [item["occurred_at"] for item in items]
    assert times == sorted(times, reverse=True) and len(set(times)) > 4
    order = [item["id"] for item in items if item["id"] in notes.values()]
    assert order == [notes["plan"], notes["thread"], notes["faq"], notes["kettle"]]
    thread = next(item for item in items if item["id"] == notes["thread"])
    assert thread["occurred_at"] == thread["metadata"]["last_activity_at"]


def test_by_importance_the_most_important_comes_first(ana: Agent) -> None:
    notes = fill(ana)
    items = search(ana, "*", sort_by="importance")["items"]
    weights = [item["importance"] for item in items]
    assert weights == sorted(weights, reverse=True) == [0.9, 0.5, 0.5, 0.2]
    assert (items[0]["id"], items[-1]["id"]) == (notes["faq"], notes["kettle"])


def test_combined_weighs_relevance_and_importance(ana: Agent) -> None:
    notes = fill(ana)
    items = search(ana, "pricing", sort_by="combined")["items"]
    for item in items:
        wanted = 0.7 * item["relevance"] + 0.3 * item["importance"]
        assert item["combined_score"] == pytest.approx(wanted)
    scores = [item["combined_score"] for item in items]
    assert scores == sorted(scores, reverse=True)
    assert items[0]["id"] == notes["faq"]
    equal = search(ana, "*", sort_by="combined")["items"]
    assert equal[0]["id"] == notes["faq"], "of what is equally relevant the important one"


def test_hops_bring_what_is_linked(ana: Agent, cleo: Agent) -> None:
    notes = fill(ana)
    link(ana, notes["faq"], notes["kettle"], "references")
    far = write(ana, "Die Wanderung führt über drei Almen zu einem stillen Bergsee.")
    link(ana, far, notes["kettle"], "follows")
    assert notes["kettle"] not in found(ana, "pricing")
    one = search(ana, "pricing", max_hops=1, min_relevance=0.2)
    hopped = {item["id"]: item for item in one["items"] if item["hops"]}
    assert {(each["hops"], each["relevance"]) for each in hopped.values()} == {(1, 0.5)}
    assert notes["kettle"] in hopped and far not in hopped
    assert one["hop_paths"] == [
        {"from": notes["faq"], "to": notes["kettle"], "link_type": "references"}
    ]
    two = search(ana, "pricing", max_hops=2, min_relevance=0.2)
    hopped = {item["id"]: item for item in two["items"] if item["hops"]}
    assert (hopped[far]["hops"], hopped[far]["relevance"]) == (2, 0.25)
    assert {"from": notes["kettle"], "to": far, "link_type": "follows"} in two["hop_paths"]
    assert (one["hops_used"], two["hops_used"]) == (1, 2)
    assert two["total_count"] == one["total_count"] + 1
    assert found(ana, "pricing", max_hops=2, link_types=["mentions"]) == found(ana, "pricing")
    assert found(cleo, "pricing", max_hops=2) == []
    assert search(ana, "pricing", max_hops=0)["hops_used"] == 0


def test_a_linked_memory_that_also_matches_counts_once(ana: Agent) -> None:
    first = write(ana, "Our pricing is fair.")
    second = write(ana, "Our pricing is not fair at all, say some.")
    link(ana, first, second)
    link(ana, second, first, "contradicts")
    answer = search(ana, "pricing", max_hops=3)
    assert sorted(item["id"] for item in answer["items"]) == sorted([first, second])
    assert answer["total_count"] == 2
    assert {item["hops"] for item in answer["items"]} == {0}
    few = search(ana, "pricing", max_hops=1, max_results=1)
    assert (len(few["items"]), few["total_count"]) == (1, 2)


def test_what_links_lead_to_must_pass_the_filters(ana: Agent) -> None:
    notes = fill(ana)
    link(ana, notes["faq"], notes["kettle"])
    link(ana, notes["kettle"], notes["plan"])
    only = search(ana, "pricing", max_hops=2, source_types=["knowledge_base", "plan_summary"])
    assert {item["id"] for item in only["items"]} == {notes["faq"], notes["plan"]}
    assert len(only["hop_paths"]) in {0, 2}, "the way leads over what was filtered out"
    assert notes["kettle"] not in found(ana, "pricing", max_hops=1, min_relevance=0.6)


def test_facts_lead_to_the_episodes_that_they_come_from(ana: Agent, told: uuid.UUID) -> None:
    answer = search(
        ana, "aunt Teresa", source_types=["fact"], max_hops=1, link_types=["derived_from"]
    )
    assert {item["source_type"] for item in answer["items"]} == {"fact"}
    every = search(ana, "aunt Teresa", max_hops=1, link_types=["derived_from"], max_results=50)
    ways = {hop["link_type"] for hop in every["hop_paths"]}
    assert ways <= {"derived_from"} and every["hops_used"] >= 1


def test_hops_never_leave_the_tenant(ana: Agent, cleo: Agent) -> None:
    mine = write(ana, "Our pricing is fair.")
    theirs = write(cleo, "Secret kettle.")
    refused = ana.post("links", {"from_id": mine, "to_id": theirs, "link_type": "relates_to"})
    assert refused.status_code == 404
    assert found(ana, "pricing", max_hops=3) == [mine]


WRONG: list[tuple[str, Any]] = [
    ("query", ""),
    ("query", None),
    ("query", 5),
    ("source_types", []),
    ("source_types", ["novel"]),
    ("source_types", "fact"),
    ("source_ids", []),
    ("source_ids", [7]),
    ("conversation_id", "x"),
    ("user_id", ""),
    ("category", 3),
    ("tag", ""),
    ("min_importance", 1.1),
    ("min_importance", "1"),
    ("emotion_valence", "glad"),
    ("since", "yesterday"),
    ("until", -5),
    ("min_relevance", -0.1),
    ("min_relevance", True),
    ("max_results", 0),
    ("max_results", 101),
    ("max_tokens", 0),
    ("sort_by", "age"),
    ("max_hops", 4),
    ("max_hops", -1),
    ("link_types", ["knows"]),
    ("limit", 5),
]


@pytest.mark.parametrize(("field", "given"), WRONG)
def test_a_wrong_field_is_named(ana: Agent, field: str, given: Any) -> None:
    answer = ana.post("search", {"query": "pricing", field: given})
    body = assert_problem(answer, 400)
    assert {name.split(".")[0] for name in body["fields"]} == {field}


def test_an_end_before_the_beginning_is_refused(ana: Agent) -> None:
    times = {"since": "2026-05-02T10:00:00Z", "until": "2026-05-01T10:00:00Z"}
    assert_problem(ana.post("search", {"query": "*", **times}), 400, "until")

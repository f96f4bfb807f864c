"""The specification's list for search, peek, chunk and contexts, in its order, by both doors.

Each test runs over HTTP and by the services. What else the specification asks, and where it is
proven in detail:

| asked | in detail |
|---|---|
| every kind of memory, filters, orders, hops | `test_finding.py`, `test_finding_filters.py` |
| what relevance means, budgets of a search | `test_relevance.py`, `test_finding.py` |
| peek without content and without a budget | `test_reading.py` |
| chunk, three ways to cut | `test_reading.py`, `test_cutting.py` |
| contexts: prompt, reserve, priorities, many adding at once | `test_contexts.py` |
| walls, also with forged links | `test_forged_links.py` |
"""

from __future__ import annotations

import logging
from typing import Any

import pytest

from memoryproject.edge.errors import NotFound
from memoryproject.text import tokens
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, link, write
from tests.retrieval.doors import ByService, Door, OverHttp
from tests.retrieval.searches import PLAN, THREAD

pytestmark = pytest.mark.django_db

PROMPT = "You are a helpful assistant."
LONG = " ".join(f"Question {number} about pricing has an answer." for number in range(90))


@pytest.fixture(params=[OverHttp, ByService])
def memory(request: Any, ana: Agent) -> Door:
    """Each of the two doors to ana's memory."""
    door: Door = request.param(ana)
    return door


@pytest.fixture(autouse=True)
def notes(ana: Agent) -> dict[str, str]:
    """A thread's summary, a plan's, and a reference: what the specification starts with."""
    thread = {"source_type": "thread_summary", "source_id": "thread-1", "metadata": THREAD}
    plan = {"source_type": "plan_summary", "source_id": "plan-1", "metadata": PLAN}
    reference = {
        "source_type": "knowledge_base",
        "source_id": "kb-1",
        "label": "Product FAQ",
        "description": "Frequently asked questions about pricing and features",
        "importance": 0.9,
    }
    posted = {"thread": thread, "plan": plan, "faq": reference}
    return {name: ana.post("notes", body).json()["id"] for name, body in posted.items()}


def first(memory: Door, query: str = "pricing") -> str:
    """Return the id of the best that a search finds."""
    return str(memory.search(query, max_results=1)["items"][0]["id"])


# ---- search


def test_a_search_looks_through_every_type_of_memory(
    memory: Door, notes: dict[str, str], told: object
) -> None:
    result = memory.search("pricing", max_results=10)
    assert {item["id"] for item in result["items"]} >= {notes["thread"], notes["faq"]}
    assert result["total_count"] >= len(result["items"])
    everything = memory.search("*", max_results=100)
    assert {item["source_type"] for item in everything["items"]} == {
        "thread_summary", "plan_summary", "knowledge_base", "episode", "fact",
    }  # fmt: skip
    assert everything["total_count"] == len(everything["items"])


def test_a_search_keeps_to_the_source_types_asked_for(memory: Door, notes: dict[str, str]) -> None:
    result = memory.search("pricing", source_types=["thread_summary"], max_results=10)
    assert [item["id"] for item in result["items"]] == [notes["thread"]]
    assert {item["source_type"] for item in result["items"]} == {"thread_summary"}


def test_a_search_keeps_to_its_budget_of_tokens(memory: Door) -> None:
    whole = memory.search("pricing", max_results=10)
    assert whole["tokens_used"] == sum(item["token_estimate"] for item in whole["items"])
    for budget in (100, whole["tokens_used"], whole["tokens_used"] - 1, 1):
        result = memory.search("pricing", max_tokens=budget, max_results=10)
        assert result["tokens_used"] <= budget
        assert bool(result["items"]) is (budget >= 14)
    again = memory.search("pricing", max_tokens=whole["tokens_used"])
    assert again["items"] == whole["items"]


def test_a_search_says_how_relevant_each_item_is(memory: Door) -> None:
    items = memory.search("pricing", max_results=10)["items"]
    assert all(0 < item["relevance"] <= 1 for item in items)


def test_an_item_shows_its_label_its_snippet_and_what_its_summary_counts(
    memory: Door, notes: dict[str, str]
) -> None:
    items = {item["id"]: item for item in memory.search("*")["items"]}
    thread, plan, faq = (items[notes[name]] for name in ("thread", "plan", "faq"))
    assert thread["label"] == "Thread: instagram (10 messages)"
    assert thread["snippet"] == "User asked about pricing. Interested in premium plan."
    assert (thread["source_id"], thread["metadata"]) == ("thread-1", THREAD)
    assert plan["label"] == "Plan: content_calendar (50% complete)"
    assert (plan["source_id"], plan["snippet"]) == ("plan-1", "Week 1 complete.")
    assert plan["metadata"]["current_phase"] == "execution"
    assert (faq["source_id"], faq["label"], faq["importance"]) == ("kb-1", "Product FAQ", 0.9)
    assert faq["snippet"] == "Frequently asked questions about pricing and features"


# ---- peek


def test_a_peek_tells_everything_but_the_content(memory: Door, ana: Agent) -> None:
    note = write(ana, LONG, label="Pricing")
    (item,) = memory.search("pricing", source_types=["note"])["items"]
    peek = memory.peek(item["id"])
    assert peek["id"] == item["id"] == note
    assert isinstance(peek["metadata"], dict)
    assert "Question 7" not in str(peek)
    assert peek["token_estimate"] == tokens.count_tokens(LONG)


def test_a_peek_costs_a_context_nothing(memory: Door) -> None:
    context = memory.make_context(max_tokens=1000)
    memory.peek(first(memory))
    assert memory.look(context["id"])["remaining_tokens"] == context["remaining_tokens"] == 500


# ---- chunk


def test_a_chunk_brings_the_content_within_its_limit(memory: Door) -> None:
    chunk = memory.chunk(first(memory), max_tokens=200)
    assert chunk["content"]
    assert chunk["token_count"] == tokens.count_tokens(chunk["content"]) <= 200


@pytest.mark.parametrize("strategy", ["end", "sentence", "middle"])
@pytest.mark.parametrize("limit", [50, 500, 1000])
def test_a_chunk_is_cut_where_the_content_is_longer_and_says_so(
    memory: Door, ana: Agent, strategy: str, limit: int
) -> None:
    note = write(ana, LONG)
    full = memory.chunk(note, max_tokens=2000)
    assert (full["content"], full["truncated"]) == (LONG, False)
    limited = memory.chunk(note, max_tokens=limit, truncation_strategy=strategy)
    assert limited["token_count"] <= limit
    assert limited["truncated"] == (full["token_count"] > limit)


def test_a_header_is_part_of_the_chunk_and_of_its_limit(memory: Door, ana: Agent) -> None:
    note = write(ana, LONG, label="Pricing")
    chunk = memory.chunk(note, max_tokens=50, include_header=True)
    assert chunk["header"] == "[note: Pricing]\n"
    assert chunk["content"].startswith(chunk["header"]) and chunk["token_count"] <= 50


# ---- contexts


def test_a_context_starts_with_its_prompt_and_less_room(memory: Door) -> None:
    context = memory.make_context(max_tokens=5000, system_prompt=PROMPT)
    assert context["remaining_tokens"] == 5000 - 500 - tokens.count_tokens(PROMPT)
    (section,) = context["sections"]
    assert (section["type"], section["priority"], section["content"]) == ("system", 100, PROMPT)


def test_what_is_added_to_a_context_stays_within_its_budget(memory: Door, ana: Agent) -> None:
    for number in range(6):
        write(ana, f"{number}. {LONG}")
    context = memory.make_context(max_tokens=500, reserved_for_response=0)["id"]
    added = []
    for item in memory.search("pricing", max_results=5)["items"]:
        added.append(memory.add(context, item["id"]))
        left = memory.look(context)["remaining_tokens"]
        assert left >= 0
        assert tokens.count_tokens(memory.compose(context)) <= 500 - left
    assert len(added) == 5 and added[0] and not added[-1]
    nothing = memory.make_context(max_tokens=500)["id"]  # all of it is the response's
    assert not memory.add(nothing, first(memory))
    assert memory.compose(nothing) == ""


def test_a_context_is_written_as_one_text_with_the_prompt_first(memory: Door) -> None:
    context = memory.make_context(max_tokens=2000, system_prompt=PROMPT)["id"]
    for item in memory.search("pricing", max_results=3, min_relevance=0.3)["items"]:
        assert memory.add(context, item["id"])
        assert memory.add(context, item["id"]), "a second time changes nothing"
    text = memory.compose(context)
    assert text.startswith(f"{PROMPT}\n\n[")
    assert text.count("[knowledge_base: Product FAQ]\n") == 1
    assert text.count("[thread_summary: Thread: instagram (10 messages)]\n") == 1
    priorities = [section["priority"] for section in memory.look(context)["sections"]]
    assert priorities == [100, 50, 50]


# ---- orders


def test_by_recency_the_latest_activity_comes_first(memory: Door, ana: Agent) -> None:
    for day in (4, 1, 9):
        metadata = {**THREAD, "last_activity_at": f"2026-06-{day:02}T10:00:00Z"}
        ana.post("notes", {"source_type": "thread_summary", "metadata": metadata})
    items = memory.search("*", sort_by="recency", max_results=10)["items"]
    said = [one["metadata"].get("last_activity_at") for one in items]
    times = [time for time in said if time]
    assert len(times) == 4 and times == sorted(times, reverse=True)
    moments = [item["occurred_at"] for item in items]
    assert moments == sorted(moments, reverse=True)


def test_relevance_and_importance_are_combined(memory: Door, ana: Agent) -> None:
    """Of two that are equally relevant the more important one comes first."""
    low = write(ana, "The harbour opens at dawn.", importance=0.1)
    high = write(ana, "The harbour opens at dawn.", importance=0.8)
    items = memory.search("harbour dawn", sort_by="combined", max_results=10)["items"]
    assert [item["id"] for item in items[:2]] == [high, low]
    assert items[0]["relevance"] == items[1]["relevance"]
    for item in items:
        expected = 0.7 * item["relevance"] + 0.3 * item["importance"]
        assert item["combined_score"] == pytest.approx(expected)
    by_importance = memory.search("*", sort_by="importance")["items"]
    shares = [item["importance"] for item in by_importance]
    assert shares == sorted(shares, reverse=True) and shares[0] == 0.9


def test_without_an_order_the_most_relevant_comes_first_and_a_star_is_neutral(
    memory: Door,
) -> None:
    shares = [item["relevance"] for item in memory.search("pricing plan")["items"]]
    assert shares == sorted(shares, reverse=True) and len(shares) > 1
    assert {item["relevance"] for item in memory.search("*")["items"]} == {0.5}


# ---- hops


def test_hops_lead_to_what_is_linked_with_what_was_found(
    memory: Door, ana: Agent, notes: dict[str, str]
) -> None:
    near = write(ana, "Das Fahrrad steht im Keller.")
    far = write(ana, "Die Wanderung führt zu einem stillen Bergsee.")
    link(ana, notes["faq"], near, "references")
    link(ana, near, far, "mentions")
    plain = {"query": "pricing", "min_relevance": 0.2, "max_results": 10}
    assert not {near, far} & {item["id"] for item in memory.search(**plain)["items"]}
    for hops, reached in ((0, set()), (1, {near}), (2, {near, far}), (3, {near, far})):
        result = memory.search(**plain, max_hops=hops)
        assert {item["id"] for item in result["items"] if item["hops"]} == reached
        assert result["hops_used"] == min(hops, 2)
    path = {"from": notes["faq"], "to": near, "link_type": "references"}
    assert result["hop_paths"] == [path, {"from": near, "to": far, "link_type": "mentions"}]
    only = memory.search(**plain, max_hops=2, link_types=["references"])
    assert only["hop_paths"] == [path]


# ---- together, and many


def test_search_then_peek_then_chunk_then_context(memory: Door, ana: Agent) -> None:
    write(ana, LONG, label="Pricing, question by question", importance=0.8)
    context = memory.make_context(max_tokens=900, system_prompt=PROMPT)["id"]
    room = memory.look(context)["remaining_tokens"]
    for item in memory.search("pricing questions", sort_by="combined")["items"]:
        peek = memory.peek(item["id"])
        assert peek["token_estimate"] == item["token_estimate"]
        assert memory.look(context)["remaining_tokens"] == room
        limit = min(room, 150)
        chunk = memory.chunk(item["id"], max_tokens=limit, include_header=True)
        assert chunk["token_count"] <= limit
        assert memory.add(context, item["id"], max_tokens=limit)
        assert chunk["content"] in memory.compose(context)
        room = memory.look(context)["remaining_tokens"]
    assert tokens.count_tokens(memory.compose(context)) <= 900 - 500 - room


@pytest.mark.gate
def test_a_large_result_comes_in_its_order_and_within_its_limits(memory: Door, ana: Agent) -> None:
    for number in range(120):
        write(ana, f"Pricing of plan {number}.", importance=number / 120)
    result = memory.search("pricing", max_results=100, sort_by="importance")
    shares = [item["importance"] for item in result["items"]]
    assert len(shares) == 100 and shares == sorted(shares, reverse=True)
    assert result["total_count"] >= 120
    budget = memory.search("pricing", max_results=100, max_tokens=60)
    assert 0 < len(budget["items"]) < 20 and budget["tokens_used"] <= 60
    assert budget["total_count"] == result["total_count"]


# ---- walls


def test_what_the_tenant_does_not_have_is_not_there(ana: Agent, cleo: Agent, told: object) -> None:
    notes = [item["id"] for item in OverHttp(ana).search("*", max_results=100)["items"]]
    hers = {item["id"] for item in OverHttp(cleo).search("*")["items"]}
    assert hers == set()
    for memory in [*notes, UNKNOWN]:
        assert cleo.get(f"memories/{memory}").status_code == 404
        with pytest.raises(NotFound):
            ByService(cleo).peek(memory)
        with pytest.raises(NotFound):
            ByService(cleo).chunk(memory, max_tokens=10)


def test_nothing_of_what_is_remembered_is_logged(
    memory: Door, ana: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    note = write(ana, "The canary-5521 sings of pricing.", label="canary-5521")
    other = write(ana, "More of canary-5521.")
    link(ana, note, other)
    context = memory.make_context(max_tokens=2000, system_prompt="canary-5521")["id"]
    memory.search("canary-5521 pricing", max_hops=2)
    memory.peek(note)
    memory.chunk(note, max_tokens=5)
    memory.add(context, note)
    assert "canary-5521" in memory.compose(context)
    ana.post("reconstruct_context", {"query": "canary-5521"})
    ana.post("search", {"query": "canary-5521", "max_hops": "canary-5521"})
    logged = [record for record in caplog.records if record.name != "django.db.backends"]
    assert not any("canary-5521" in record.getMessage() for record in logged)

"""A search looks through facts, episodes and notes of the whole tenant at once."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexing.models import SearchVector
from jobs.draining import drain_jobs
from memoryproject.text import tokens
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Fact
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import write
from tests.retrieval.searches import fill, found, search

pytestmark = pytest.mark.django_db


def test_it_looks_through_every_kind_of_memory(ana: Agent, told: uuid.UUID) -> None:
    note = write(ana, "Rotterdam has a large harbour.")
    answer = search(ana, "Rotterdam", max_results=20)
    kinds = {item["source_type"] for item in answer["items"]}
    assert kinds == {"fact", "episode", "note"}
    assert note in {item["id"] for item in answer["items"]}
    assert answer["total_count"] >= len(answer["items"]) > 2
    of_talk = [item for item in answer["items"] if item["source_type"] != "note"]
    assert {item["source_id"] for item in of_talk} == {str(told)}
    assert all(item["snippet"] and item["label"] for item in answer["items"])


def test_a_stranger_finds_nothing(ana: Agent, cleo: Agent, told: uuid.UUID) -> None:
    fill(ana)
    for query in ("pricing", "Rotterdam", "*"):
        assert search(ana, query)["total_count"] > 0
        answer = search(cleo, query)
        assert (answer["items"], answer["total_count"]) == ([], 0)
    assert search(cleo, "Rotterdam", conversation_id=str(told))["items"] == []


def test_who_shares_the_tenant_finds_the_same(ana: Agent, bo: Agent) -> None:
    fill(ana)
    assert found(ana, "pricing") == found(bo, "pricing") != []


def test_in_an_empty_tenant_there_is_nothing(ana: Agent) -> None:
    for query in ("pricing", "*", "???", "价格"):
        answer = search(ana, query, max_hops=3)
        assert answer["items"] == [] == answer["hop_paths"]
        assert answer["total_count"] == answer["tokens_used"] == answer["hops_used"] == 0


def test_relevance_is_from_0_to_1_and_best_first(ana: Agent) -> None:
    notes = fill(ana)
    items = search(ana, "pricing")["items"]
    assert {items[0]["id"], items[1]["id"]} == {notes["thread"], notes["faq"]}
    shares = [item["relevance"] for item in items]
    assert all(0 < share <= 1 for share in shares)
    assert shares == sorted(shares, reverse=True)
    assert notes["kettle"] not in {item["id"] for item in items}


def test_meaning_finds_what_shares_no_word(ana: Agent) -> None:
    cat = write(ana, "The cat sleeps on the sofa all day.")
    write(ana, "Quarterly revenue grew by ten percent.")
    drain_jobs()
    assert found(ana, "Where does the kitten nap?") == [cat]


def test_words_find_what_has_no_vector(ana: Agent) -> None:
    kettle = write(ana, "The kettle sings.")
    SearchVector.objects.of(ana.tenant).delete()
    assert found(ana, "kettle") == [kettle]


def test_what_is_not_there_lowers_the_share_of_the_words(ana: Agent) -> None:
    write(ana, "The kettle sings.")
    SearchVector.objects.of(ana.tenant).delete()
    whole = search(ana, "kettle sings")["items"][0]["relevance"]
    half = search(ana, "kettle zanzibar")["items"][0]["relevance"]
    assert whole == pytest.approx(1, abs=0.1)
    assert half < 0.5 * whole


def test_stop_words_of_the_query_find_nothing(ana: Agent) -> None:
    write(ana, "The kettle sings.")
    SearchVector.objects.of(ana.tenant).delete()
    assert found(ana, "who is the one") == []


def test_text_without_spaces_is_found(ana: Agent) -> None:
    price = write(ana, "高级套餐的价格是每月三十元。")
    write(ana, "猫整天睡在沙发上。")
    assert found(ana, "套餐价格")[0] == price
    SearchVector.objects.of(ana.tenant).delete()
    assert found(ana, "套餐价格") == [price]


def test_a_long_note_is_one_item(ana: Agent) -> None:
    note = write(ana, "\n\n".join(f"Chapter {n}. The kettle sings. " * 30 for n in range(8)))
    assert found(ana, "kettle") == [note]


def test_the_relevance_of_a_memory_is_the_same_under_any_filter(ana: Agent) -> None:
    notes = fill(ana)
    free = {item["id"]: item["relevance"] for item in search(ana, "pricing features")["items"]}
    for narrow in ({"source_types": ["knowledge_base"]}, {"min_importance": 0.8}):
        (item,) = search(ana, "pricing features", **narrow)["items"]
        assert item["id"] == notes["faq"]
        assert item["relevance"] == pytest.approx(free[notes["faq"]])


def test_everything_is_asked_for_by_a_star(ana: Agent, told: uuid.UUID) -> None:
    notes = fill(ana)
    answer = search(ana, "*", max_results=100)
    assert {item["relevance"] for item in answer["items"]} == {0.5}
    assert answer["total_count"] == len(answer["items"])
    assert set(notes.values()) < {item["id"] for item in answer["items"]}
    facts = Fact.objects.of(ana.tenant).filter(invalid_at=None).count()
    kinds = [item["source_type"] for item in answer["items"]]
    assert kinds.count("fact") == facts > 0
    assert search(ana, "*", min_relevance=0.51)["total_count"] == 0


def test_what_is_gone_is_not_found(ana: Agent, told: uuid.UUID) -> None:
    note = write(ana, "Rotterdam has a large harbour.")
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None, fact__contains="Rotterdam").first()
    assert fact is not None
    before = found(ana, "Rotterdam", max_results=50)
    assert {note, str(fact.id)} <= set(before)
    assert ana.client.delete(f"/api/v0/notes/{note}").status_code == 204
    wrong = ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "No."})
    assert wrong.status_code == 200, wrong.content
    for query in ("Rotterdam", "*"):
        after = set(found(ana, query, max_results=100))
        assert not after & {note, str(fact.id)}


@pytest.mark.parametrize("budget", [1, 5, 12, 20, 40, 100, 1000])
def test_the_budget_is_never_exceeded(ana: Agent, budget: int) -> None:
    fill(ana)
    answer = search(ana, "pricing", max_tokens=budget)
    sizes = [item["token_estimate"] for item in answer["items"]]
    assert answer["tokens_used"] == sum(sizes) <= budget
    assert answer["counter"] == tokens.in_use().name
    assert answer["total_count"] == search(ana, "pricing")["total_count"] > 0
    shown = "\n".join(item["snippet"] for item in answer["items"])
    assert tokens.count_tokens(shown) <= budget + len(sizes)


def test_what_does_not_fit_makes_room_for_what_does(ana: Agent) -> None:
    long = write(ana, "Pricing. " * 200, label="Pricing")
    short = write(ana, "Our pricing is fair.", label="Fair")
    assert set(found(ana, "pricing")) == {long, short}
    assert found(ana, "pricing", max_tokens=50) == [short]
    assert found(ana, "pricing", max_tokens=1) == []


def test_no_more_than_the_results_asked_for(ana: Agent) -> None:
    fill(ana)
    answer = search(ana, "*", max_results=2)
    assert (len(answer["items"]), answer["total_count"]) == (2, 4)


def test_an_answer_says_how_it_was_asked(ana: Agent) -> None:
    asked = {"min_relevance": 0.1, "sort_by": "combined", "since": "2026-05-01T10:00:00Z"}
    applied = search(ana, "pricing", **asked)["query"]
    assert {name: applied[name] for name in asked} == asked
    assert (applied["query"], applied["max_results"], applied["max_hops"]) == ("pricing", 10, 0)
    assert applied["source_types"] is None and len(applied["link_types"]) > 5


def test_a_search_leaves_a_receipt_that_no_review_waits_for(ana: Agent, told: uuid.UUID) -> None:
    answer = ana.post("search", {"query": "Rotterdam", "conversation_id": str(told)})
    body = answer.json()
    assert answer["Memory-Receipt"] == body["receipt"]
    receipt = Retrieval.objects.of(ana.tenant).get()
    assert (receipt.kind, receipt.reviewable, receipt.query) == ("search", False, "Rotterdam")
    assert receipt.conversation is not None and receipt.conversation.external_id == told
    assert receipt.tokens == body["tokens_used"] and receipt.embedding_model
    hits = RetrievalHit.objects.of(ana.tenant).order_by("rank")
    assert [str(hit.memory_id) for hit in hits] == [item["id"] for item in body["items"]]
    assert {hit.memory_kind for hit in hits} == {"fact", "episode"}
    shown = ana.get(f"retrievals/{body['receipt']}").json()
    assert shown["kind"] == "search" and shown["parameters"]["sort_by"] == "relevance"


def count_queries(agent: Agent, **fields: Any) -> int:
    with CaptureQueriesContext(connection) as captured:
        search(agent, "moving to Rotterdam, pricing", **fields)
    # The key is looked up anew after half a second, which a busy machine may take.
    counted = (row["sql"] for row in captured if "tenancy_apikey" not in row["sql"])
    return sum(not sql.startswith(("SAVEPOINT", "RELEASE")) for sql in counted)


@pytest.mark.parametrize(("hops", "at_most"), [(0, 14), (2, 17)])
def test_no_query_an_item(ana: Agent, told: uuid.UUID, hops: int, at_most: int) -> None:
    fill(ana)
    search(ana, "*")  # the key's last use is recorded once a minute
    few = count_queries(ana, max_results=6, max_hops=hops)
    many = count_queries(ana, max_results=100, max_hops=hops)
    assert few == many <= at_most


def test_a_frequent_word_costs_no_more_than_its_cap(ana: Agent, settings: Any) -> None:
    settings.SEARCH_CANDIDATES_AT_MOST = 2
    notes = [write(ana, f"The kettle number{n} sings.") for n in range(5)]
    SearchVector.objects.of(ana.tenant).delete()
    assert len(found(ana, "kettle")) == 2
    assert found(ana, "kettle number4")[0] == notes[4]

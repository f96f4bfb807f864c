"""The numbers by which a search says how relevant a memory is."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from indexing.models import MemoryKind
from memoryproject.ai.embeddings import LocalEmbedder
from retrieval.search.scores import LIKENESS, USUAL, combine, likeness_of, linked_relevance
from tests.conftest import Agent
from tests.notes.graphs import write
from tests.retrieval.searches import fill, search

SAME = "Where does Ana work?"
ANSWERS = "Ana works as a nurse at the Santo Antonio hospital."
STRANGE = "Quarterly revenue grew by ten percent."


def test_a_cosine_counts_from_unlike_to_like() -> None:
    e5 = likeness_of("e5-small-q4")
    cosines = (-1, 0.80, 0.85, 0.90, 1)
    assert [round(e5.share(cosine), 6) for cosine in cosines] == [0, 0, 0.5, 1, 1]
    assert likeness_of("a model that nobody measured") == USUAL
    assert all(0 < one.unlike < one.like < 1 for one in [*LIKENESS.values(), USUAL])


def test_each_link_halves_what_a_linked_memory_counts() -> None:
    assert [linked_relevance(depth) for depth in (1, 2, 3)] == [0.5, 0.25, 0.125]


def test_relevance_weighs_more_than_importance() -> None:
    assert combine(relevance=1, importance=0) == 0.7
    assert combine(relevance=0, importance=1) == 0.3


@pytest.mark.django_db
def test_the_default_model_is_measured_and_tells_an_answer_from_what_is_strange() -> None:
    assert LocalEmbedder.name in LIKENESS
    embedder = LocalEmbedder()
    question = embedder.embed_query(SAME)
    answers, strange = embedder.embed_passages([ANSWERS, STRANGE])
    likeness = likeness_of(embedder.name)
    assert likeness.share(float(question @ answers)) > 0.3
    assert likeness.share(float(question @ strange)) == 0


@pytest.mark.django_db
def test_the_estimate_of_a_search_is_that_of_a_peek(ana: Agent, told: uuid.UUID) -> None:
    fill(ana)
    items = search(ana, "*", max_results=50)["items"]
    assert {item["source_type"] for item in items} >= set(MemoryKind.values) - {"note"}
    for item in items:
        peek = ana.get(f"memories/{item['id']}").json()
        for name in ("label", "source_type", "source_id", "token_estimate", "metadata"):
            assert (peek[name] or None) == (item[name] or None), (item["source_type"], name)


@pytest.mark.django_db
def test_the_receipt_of_a_search_has_its_pages(
    ana: Agent, told: uuid.UUID, admin_client: Client
) -> None:
    write(ana, "Rotterdam has a large harbour.")
    for fields in ({}, {"conversation_id": str(told)}):
        receipt = search(ana, "Rotterdam", **fields)["receipt"]
        page = reverse("admin:retrieval_retrieval_change", args=[receipt])
        case = reverse("console:case", args=[receipt])
        for address in (page, case):
            shown = admin_client.get(address, SERVER_NAME="localhost")
            assert shown.status_code == 200
            assert "Rotterdam" in shown.content.decode()

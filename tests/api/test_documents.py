"""The requests of the first two specification documents over HTTP, as they write them.

Pseudo-code is taken to the call of its name, and camelCase to snake_case. What the answers hold
in detail is tested with each call; the third document has `test_third_document.py`.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Agent
from tests.retrieval.searches import PLAN, THREAD

pytestmark = pytest.mark.django_db

TALK = "550e8400-e29b-41d4-a716-446655440001"
SAID = [
    ("user", "I've been doing Python for 5 years but my new team is all Rust."),
    ("assistant", "That's a big shift. What prompted it?"),
    ("user", "The trading system needs microsecond latency, Python can't cut it."),
    ("user", "Please always use practical examples when teaching me."),
]
WHOLE = {"query": "what did the user say about Rust", "conversation_id": TALK, "episodic_limit": 5,
         "semantic_limit": 20, "detail": "auto", "category": None}  # fmt: skip
GUIDELINES = {"query": "how should I respond", "conversation_id": TALK, "category": "guideline",
              "semantic_limit": 10}  # fmt: skip
CAREER = {"query": "User is asking about career decisions", "conversation_id": TALK}
DEEP = {"query": "what should I learn next", "conversation_id": TALK, "detail": "high"}
SHORT = {"query": "remind me what we discussed", "conversation_id": TALK, "detail": "none"}

Markdown = tuple[str, dict[str, Any], set[str], set[str]]
MARKDOWN: list[Markdown] = [
    ("retrieve_memory", WHOLE, {"## Semantic Memory", "## Episodic Memories"}, {"**Details:**"}),
    ("retrieve_memory", GUIDELINES, {"- [guideline] ", "### "}, {"- [experience] "}),
    ("context_pre_retrieve", CAREER, {"## Semantic Memory"}, {"## Episodic Memories"}),
    ("context_pre_retrieve", WHOLE, {"## Semantic Memory"}, {"## Episodic Memories"}),
    ("retrieve_memory", DEEP, {"**Details:**", '- user: "'}, set()),
    ("retrieve_memory", SHORT, {"**Summary:**"}, {"**Details:**"}),
]
"""Call, body, what the text must have, and what it must not have."""

FACT = {"id", "conversation_id", "category", "fact", "keywords", "source_episodic_ids", "valid_at",
        "invalid_at", "score"}  # fmt: skip
EPISODE = {"id", "conversation_id", "messages", "title", "summary", "stability", "difficulty",
           "surprise", "start_at", "end_at", "created_at", "last_reviewed_at", "consolidated_at",
           "score"}  # fmt: skip
ITEM = {"id", "source_type", "source_id", "label", "relevance", "importance", "combined_score",
        "token_estimate", "snippet", "metadata"}  # fmt: skip
PEEK = ITEM - {"relevance", "importance", "combined_score", "snippet"} | {
    "description", "related_ids", "location"
}  # fmt: skip
CHUNK = {"id", "content", "token_count", "truncated", "header"}
CONTEXT = {"id", "max_tokens", "remaining_tokens", "sections", "retrieved_ids"}
TEN: dict[str, Any] = {"query": "pricing", "max_results": 10}
SEARCHES: list[dict[str, Any]] = [
    {"query": "pricing"},
    TEN,
    {**TEN, "source_types": ["thread_summary"]},
    {**TEN, "source_types": ["brand_kit", "offer", "span", "reference", "plan_summary"]},
    {**TEN, "source_ids": ["kb-1"]},
    {**TEN, "max_tokens": 100},
    {**TEN, "min_relevance": 0.3, "since": "2025-01-16T00:00:00Z"},
    {**TEN, "query": "*", "sort_by": "recency"},
    {**TEN, "sort_by": "importance"},
    {**TEN, "sort_by": "combined"},
    {**TEN, "max_hops": 2},
    {**TEN, "max_hops": 2, "link_types": ["relates_to"]},
]


@pytest.mark.parametrize("place", range(len(MARKDOWN)))
def test_the_first_document_as_markdown(ana: Agent, told: None, place: int) -> None:
    call, body, wanted, unwanted = MARKDOWN[place]
    answer = ana.post(call, body)
    text = answer.content.decode()
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (200, "text/markdown")
    assert [words for words in wanted if words not in text] == []
    assert [words for words in unwanted if words in text] == []


def test_the_first_document_as_json(ana: Agent, told: None) -> None:
    answer = ana.post("retrieve_memory/raw", WHOLE).json()
    assert set(answer["semantic"][0]) >= FACT and set(answer["episodic"][0]) >= EPISODE
    assert set(answer["episodic"][0]["messages"][0]) == {"role", "content"}
    assert "embedding" not in str(answer)


@pytest.mark.parametrize("place", range(len(SEARCHES)))
def test_the_second_document_searches(ana: Agent, seeded: list[str], place: int) -> None:
    answer = ana.post("search", SEARCHES[place])
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert {"items", "total_count", "tokens_used", "query", "hops_used", "hop_paths"} <= set(found)
    assert all(set(item) >= ITEM for item in found["items"])
    assert bool(found["items"]) is ("brand_kit" not in SEARCHES[place].get("source_types", []))
    assert found["tokens_used"] <= SEARCHES[place].get("max_tokens", 10**6)


def test_the_second_document_from_search_to_context(ana: Agent, seeded: list[str]) -> None:
    (best,) = ana.post("search", {"query": "pricing", "max_results": 1}).json()["items"]
    peek = ana.get(f"memories/{best['id']}").json()
    assert set(peek) >= PEEK and "content" not in peek
    for options in ({"max_tokens": 200}, {"max_tokens": 50, "truncation_strategy": "middle"}):
        path = f"memories/{best['id']}/chunk"
        chunk = ana.post(path, {**options, "include_header": True}).json()
        assert set(chunk) >= CHUNK and chunk["token_count"] <= options["max_tokens"]
    prompt = "You are a helpful assistant."
    made = ana.post("contexts", {"max_tokens": 5000, "system_prompt": prompt})
    assert made.status_code == 201 and set(made.json()) >= CONTEXT
    for memory_id in seeded:
        added = ana.post(f"contexts/{made.json()['id']}/add", {"memory_id": memory_id}).json()
        assert added["added"] and added["remaining_tokens"] >= 0
    text = ana.get(f"contexts/{made.json()['id']}/text").content.decode()
    assert text.startswith(prompt) and "Product FAQ" in text
    assert ana.get(f"memories/{uuid.uuid4()}").status_code == 404


@pytest.fixture(scope="module")
def told(ana: Agent) -> None:
    for role, content in SAID:
        ana.say(uuid.UUID(TALK), content, role=role)
    ana.flush(uuid.UUID(TALK))


@pytest.fixture(scope="module")
def seeded(ana: Agent) -> list[str]:
    """A thread's summary, a plan's, and a reference, as the document seeds them."""
    faq = {"label": "Product FAQ", "importance": 0.9,
           "description": "Frequently asked questions about pricing and features"}  # fmt: skip
    notes = [
        {"source_type": "thread_summary", "source_id": "thread-1", "metadata": THREAD},
        {"source_type": "plan_summary", "source_id": "plan-1", "metadata": PLAN},
        {"source_type": "knowledge_base", "source_id": "kb-1", **faq},
    ]
    return [ana.post("notes", note).json()["id"] for note in notes]

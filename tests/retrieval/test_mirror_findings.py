"""A search is answered from pages in its own form: filters, orders, budget, and no other tenant."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from memoryproject.text.tokens import count_tokens
from retrieval.search.in_tenant import SearchRequest
from tests.retrieval.test_mirror_search import ANA, CLEO, store
from wings.navigation import results
from wings.navigation.results import Result

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.MIRROR_DIR = tmp_path


def ask(query: str, *, tenant: uuid.UUID = ANA, **given: Any) -> Result:
    return results.search_mirror(
        tenant=Tenant(id=tenant, name="somebody's"),
        request=SearchRequest(query=query, **given),
    )


def ids(result: Result) -> list[uuid.UUID]:
    return [item.finding.memory_id for item in result.items]


def test_an_item_says_what_its_page_says() -> None:
    note = store("Bread.", source_type="offer", source_id="s1", label="Our bread", importance=0.9)
    result = ask("bread")
    (item,) = result.items
    assert (item.finding.memory_id, item.finding.source_type) == (note, "offer")
    assert (item.memory.source_id, item.memory.label, item.snippet) == (
        "s1",
        "Our bread",
        "Bread.",
    )
    assert item.finding.score == pytest.approx(1)
    assert item.finding.combined == pytest.approx(0.7 + 0.3 * 0.9)
    assert (item.token_estimate, result.tokens_used) == (count_tokens("Bread."),) * 2
    assert (result.findings.total, result.findings.degraded, result.receipt) == (1, "mirror", None)
    assert result.findings.hops_used == 0


def test_an_episode_is_shown_by_its_summary() -> None:
    content = "A title of it\nWhat it was about.\n\nAna: Bread."
    store(content, kind=MemoryKind.EPISODE, source_type="episode", label="A title of it")
    assert ask("bread").items[0].snippet == "What it was about."


@pytest.mark.parametrize(
    "sort_by, expected",
    [("relevance", "ABC"), ("recency", "CBA"), ("importance", "BCA"), ("combined", "ABC")],
)
def test_each_order(sort_by: str, expected: str) -> None:
    made = {
        "A": store("Bread butter jam.", at=NOW - timedelta(days=3), importance=0.1),
        "B": store("Bread butter.", at=NOW - timedelta(days=2), importance=0.9),
        "C": store("Bread.", at=NOW - timedelta(days=1), importance=0.3),
    }
    names = {memory_id: name for name, memory_id in made.items()}
    found = ids(ask("bread butter jam", sort_by=sort_by))
    assert "".join(names[one] for one in found) == expected


@pytest.mark.parametrize(
    "name, value, field, other",
    [
        ("source_types", ["offer"], "source_type", "note"),
        ("source_ids", ["s1"], "source_id", "s2"),
        ("user_id", "u1", "user_id", "u2"),
        ("category", "food", "category", "travel"),
        ("emotion_valence", "positive", "emotion_valence", "negative"),
    ],
)
def test_a_filter_narrows(name: str, value: Any, field: str, other: str) -> None:
    wanted = store("Bread.", **{field: value[0] if isinstance(value, list) else value})
    store("Bread.", **{field: other})
    assert ids(ask("bread", **{name: value})) == [wanted]
    assert len(ids(ask("bread"))) == 2


def test_a_tag_is_a_notes_and_no_keyword_of_a_fact() -> None:
    wanted = store("Bread.", tags=("food", "baking"))
    store("Bread.", tags=("travel",))
    store("Bread.", kind=MemoryKind.FACT, source_type="fact", tags=("food",))
    assert ids(ask("bread", tag="food")) == [wanted]


def test_least_relevance_and_most_results() -> None:
    whole = store("Bread butter.")
    store("Bread.")
    assert ids(ask("bread butter", min_relevance=0.99)) == [whole]
    result = ask("bread butter", max_results=1)
    assert ids(result) == [whole] and result.findings.total == 2
    assert {item.finding.score for item in ask("*").items} == {0.5}


def test_a_budget_is_strict() -> None:
    store("Bread " * 50)
    short = store("Bread.")
    size = count_tokens("Bread.")
    assert ids(ask("bread", max_tokens=size)) == [short]
    nothing = ask("bread", max_tokens=size - 1)
    assert (nothing.items, nothing.tokens_used, nothing.findings.total) == ((), 0, 2)


def test_a_stranger_finds_nothing() -> None:
    store("Bread.")
    assert ids(ask("bread", tenant=CLEO)) == []

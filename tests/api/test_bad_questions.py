"""A question with a wrong field is refused, the field is named, and no receipt is written."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

ID = "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"
RETRIEVING = ["retrieve_memory", "retrieve_memory/raw"]
ASKING = [*RETRIEVING, "context_pre_retrieve", "ask"]
RECENT = ["recent_memory", "recent_memory/raw"]
NO_NUMBERS: list[Any] = [0, -1, 10**12, 10**30, -(2**63), 5.0, 1.5, "5", "", True, False, [], {}]
NO_WORDS: list[Any] = ["", " ", 1, 0, True, [], ["auto"], {}, "AUTO", "Preference", "auto "]


def wrong_fields() -> list[tuple[str, str, Any]]:
    """Return triples (call, field, wrong value)."""
    found: list[tuple[str, str, Any]] = []
    for call in ASKING:
        queries = [None, "", " \u2003", 1, True, [], {}]
        found += [(call, "query", given) for given in queries]
        found += [(call, "conversation_id", given) for given in [None, "x", f"{{{ID}}}", 1]]
        found += [(call, "semantic_limit", given) for given in [*NO_NUMBERS, 201]]
        found += [(call, "max_tokens", given) for given in NO_NUMBERS]
        found += [(call, "category", given) for given in NO_WORDS]
    for call in ASKING[:3]:
        found += [(call, "style", given) for given in ["plain", ["plain", "defanged"]]]
    for call in RETRIEVING:
        found += [(call, "episodic_limit", given) for given in [*NO_NUMBERS, 101]]
        found += [(call, "detail", given) for given in NO_WORDS]
    found += [("ask", "episodic_limit", given) for given in [*NO_NUMBERS, 101]]
    found += [("ask", "min_relevance", given) for given in [-0.1, 1.1, "0.5", True, []]]
    found += [("ask", "stream", given) for given in ["true", 1, []]]
    found += [("ask", given, True) for given in ["style", "fence", "explain", "whole", "detail"]]
    for call in RECENT:
        found += [(call, "conversation_id", given) for given in [None, "x", f"{{{ID}}}", 1]]
        found += [(call, "limit", given) for given in [*NO_NUMBERS, 101]]
        found += [(call, "days_limit", given) for given in NO_NUMBERS]
    return found


def question(call: str) -> dict[str, Any]:
    return {"conversation_id": ID} | ({} if call in RECENT else {"query": "anything"})


@pytest.mark.parametrize("call, field, given", wrong_fields())
def test_a_wrong_field_is_named(ana: Agent, call: str, field: str, given: Any) -> None:
    assert_problem(ana.post(call, {**question(call), field: given}), 400, field)


@pytest.mark.parametrize("word", ["bold", 1])
def test_a_wrong_word_of_a_style_is_named_by_its_place(ana: Agent, word: Any) -> None:
    for call in ASKING[:3]:
        answer = ana.post(call, {**question(call), "style": ["plain", word]})
        assert_problem(answer, 400, "style.1")


@pytest.mark.parametrize("call", ASKING + RECENT)
def test_every_missing_field_is_named(ana: Agent, call: str) -> None:
    assert_problem(ana.post(call, {}), 400, *question(call))


@pytest.mark.parametrize("call", ASKING)
def test_a_query_over_its_cap_is_refused(ana: Agent, call: str) -> None:
    long = "x" * (settings.MAX_CONTENT_BYTES + 1)
    assert_problem(ana.post(call, {**question(call), "query": long}), 413, "query")


@pytest.mark.parametrize("field", ["limit", "days_limit", "max_token", "as_at"])
def test_a_field_of_another_call_is_unknown(ana: Agent, field: str) -> None:
    for call in ASKING:
        assert_problem(ana.post(call, {**question(call), field: 1}), 400, field)

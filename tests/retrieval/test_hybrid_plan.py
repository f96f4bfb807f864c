"""The plan of hybrid.sql: one text, of which what nobody asked for is folded away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection, connections

from episodic.models import Conversation
from indexing.models import MemoryKind, SearchUnit, SearchVector
from retrieval.search.in_conversation import Question, state
from tests.conftest import Agent
from tests.indexing.makers import DIM, NOW, fill, make_conversation

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "owner"]),
    pytest.mark.gate,
]


@pytest.fixture
def conversation(ana: Agent) -> Conversation:
    """One of two conversations; most of their facts are retired."""
    made = [make_conversation(ana.tenant) for _ in range(2)]
    for seed, one in enumerate(made):
        one.tenant = ana.tenant
        facts = fill(one, [f"fact{number} of the lighthouse" for number in range(1500)], seed=seed)
        for model in (SearchUnit, SearchVector):
            model.objects.of(ana.tenant).filter(memory__in=facts[:1300]).update(invalid_at=NOW)
    with connections["owner"].cursor() as cursor:
        for model in (SearchUnit, SearchVector):
            # Tests before this one leave indexes larger than their rows, and other plans.
            cursor.execute(f"REINDEX TABLE {model._meta.db_table}")
            cursor.execute(f"VACUUM (ANALYZE) {model._meta.db_table}")
    return made[0]


def explain(conversation: Conversation, **changes: Any) -> str:
    """Return the plan of a search, without the parts that never ran."""
    fields: dict[str, Any] = {
        "words": "lighthouse fact7",
        "vector": np.ones(DIM, dtype=np.float32) / DIM**0.5,
        "model": "test",
        "shelves": (MemoryKind.FACT, MemoryKind.EPISODE),
        "fact_limit": 20,
        "episode_limit": 5,
        "category": None,
        "now": NOW,
    }
    statement, parameters = state(conversation, Question(**{**fields, **changes}))
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + statement, parameters)
        lines = [row[0] for row in cursor.fetchall()]
    return "\n".join(line for line in lines if "never executed" not in line)


def test_what_is_believed_now_is_read_from_two_indexes_alone(conversation: Conversation) -> None:
    plan = explain(conversation)
    assert "valid_until" not in plan
    assert "Index Only Scan using indexing_unit_by_words" in plan
    assert "Index Only Scan using indexing_vector_covering" in plan
    assert "Seq Scan on indexing_search" not in plan


def test_what_was_true_then_is_read_by_time(conversation: Conversation) -> None:
    plan = explain(conversation, as_of=NOW)
    assert "indexing_unit_by_time" in plan and "indexing_vector_by_time" in plan
    assert "valid_until" in plan
    assert "indexing_unit_by_words" not in plan and "indexing_vector_covering" not in plan


def test_single_messages_cost_nothing_where_none_are_asked_for(conversation: Conversation) -> None:
    assert "(kind)::text = 'message'" not in explain(conversation)
    assert "(kind)::text = 'message'" in explain(conversation, line_limit=100)


def test_without_a_vector_no_vector_is_read(conversation: Conversation) -> None:
    assert "indexing_vector_covering" not in explain(conversation, vector=None)

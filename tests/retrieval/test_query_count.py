"""An answer costs the same number of queries, however much it serves."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import Agent
from tests.shared import ana, told

__all__ = ["ana", "told"]  # fixtures
pytestmark = pytest.mark.django_db


def count_queries(agent: Agent, call: str, **body: Any) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert agent.post(call, body).status_code == 200
    # The key is believed for half a second, and looked up again after that.
    passed_over = ("SAVEPOINT", "RELEASE", 'SELECT "tenancy_apikey"')
    return sum(not row["sql"].startswith(passed_over) for row in captured)


@pytest.mark.parametrize(
    ("call", "extra", "at_most"),
    [
        ("context_pre_retrieve", {}, 7),
        ("retrieve_memory", {"detail": "none"}, 8),
        ("retrieve_memory", {"detail": "high"}, 9),
        ("retrieve_memory/raw", {}, 10),
        ("retrieve_memory", {"max_tokens": 2000}, 11),  # one of them for what is pinned
        ("retrieve_memory/raw", {"explain": True, "min_seq": 1}, 11),
    ],
)
def test_no_query_a_hit(
    ana: Agent, told: uuid.UUID, call: str, extra: dict[str, Any], at_most: int
) -> None:
    """Nor one a pinned fact, which is served though the search did not find it."""
    ana.say(told, "I am allergic to penicillin.", name="Mira")
    ana.flush(told)
    body = {"conversation_id": str(told), "query": "moving to Rotterdam, running", **extra}
    ana.post(call, body)  # the key's last use is recorded once a minute
    few = count_queries(ana, call, **body, semantic_limit=1)
    many = count_queries(ana, call, **body, semantic_limit=200)
    assert few == many <= at_most

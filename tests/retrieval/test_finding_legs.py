"""What a search does where the model is away, and where an approximate index was built."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone
from pytest_django import Settings

from indexing import services as index
from indexing.models import MemoryKind, SearchUnit, SearchVector, UnitKind, VectorIndex
from indexing.services import Entry
from jobs.draining import drain_jobs
from memoryproject.ai import embeddings
from retrieval.models import Retrieval
from tests.conftest import Agent
from tests.embedders import embedding_by
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.model_server import ModelServer, fails, run_model_server
from tests.notes.graphs import write
from tests.retrieval.searches import found, search

PLACES = ["harbour", "bakery", "station", "library", "museum", "market"]


@pytest.fixture
def away(settings: Settings) -> Iterator[ModelServer]:
    """The whole server embeds by an endpoint that answers nobody."""
    with run_model_server() as server, embedding_by(server.url, settings):
        server.always("embed", fails(503))
        yield server


@pytest.mark.django_db
def test_while_the_model_is_away_words_answer_and_the_answer_says_so(
    away: ModelServer, ana: Agent
) -> None:
    kettle = write(ana, "The kettle sings.")
    answer = ana.post("search", {"query": "kettle"})
    body = answer.json()
    assert [item["id"] for item in body["items"]] == [kettle]
    assert answer["Memory-Degraded"] == body["degraded"] == "no_vectors"
    receipt = Retrieval.objects.of(ana.tenant).get()
    assert (receipt.degraded, receipt.embedding_model) == ("no_vectors", "")
    everything = search(ana, "*")
    assert (everything["degraded"], everything["total_count"]) == (None, 1)


def explain(agent: Agent, *, off: str = "enable_sort", **fields: Any) -> str:
    """Return the plan of a search's statement, where the planner may not use `off`.

    So few rows are sorted, or found by any index, as fast as by the one for many: it must be
    able to.
    """
    plans: list[str] = []

    def note_plan(execute: Any, statement: str, given: Any, many: bool, context: Any) -> Any:
        if "aim AS MATERIALIZED" in statement:
            with connection.connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL {off} = off")
                cursor.execute("EXPLAIN (ANALYZE, COSTS OFF) " + statement, given)
                lines = [row[0] for row in cursor.fetchall()]
                cursor.execute(f"SET LOCAL {off} = on")
            plans.append("\n".join(line for line in lines if "never executed" not in line))
        return execute(statement, given, many, context)

    with connection.execute_wrapper(note_plan):
        search(agent, "Where is the old piano?", **fields)
    (plan,) = plans
    return plan


@pytest.mark.gate
@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_an_index_of_the_whole_tenant_is_used_where_nothing_is_filtered(
    ana: Agent, cleo: Agent
) -> None:
    for number in range(120):
        place = PLACES[number % len(PLACES)]
        write(ana, f"Number {number}: the {place} has an old piano, painted {number} times.")
    drain_jobs()
    exact = found(ana, "Where is the old piano?", max_results=20)
    assert "indexing_near_" not in explain(ana)
    call_command("build_vector_index", ana.tenant.name, shelf="note", stdout=StringIO())
    index = VectorIndex.objects.of(ana.tenant).get()
    assert index.conversation_id is None
    assert index.name in explain(ana)
    assert index.name not in explain(ana, user_id="user-1")
    near = found(ana, "Where is the old piano?", max_results=20)
    assert len(set(near) & set(exact)) >= 18
    assert found(cleo, "Where is the old piano?") == []
    call_command("build_vector_index", ana.tenant.name, shelf="note", drop=True, stdout=StringIO())


def crowd(agent: Agent, count: int) -> None:
    """Fill an agent's index with notes that nobody asks for."""
    memories = index.register(tenant=agent.tenant, kind=MemoryKind.NOTE, count=count)
    chance = np.random.default_rng(7)
    embedder = embeddings.get_embedder()
    vectors = chance.standard_normal((count, embedder.dim), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index.add_entries(
        tenant=agent.tenant,
        conversation_id=None,
        model=embedder.name,
        entries=[
            Entry(
                memory, UnitKind.NOTE, f"Number {place}.", vectors[place], "english", timezone.now()
            )
            for place, memory in enumerate(memories)
        ],
    )


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_words_and_vectors_come_from_their_indexes(ana: Agent, cleo: Agent) -> None:
    """The planner knows how many rows there are and whose, as it does in a server's life."""
    for _ in range(40):  # one between the other's, as they come
        crowd(cleo, 25)
        crowd(ana, 2)
    write(ana, "The old piano.")
    with connections["owner"].cursor() as cursor:
        for model in (SearchUnit, SearchVector):
            cursor.execute(f"VACUUM (ANALYZE) {model._meta.db_table}")
    assert "Bitmap Index Scan on indexing_unit_by_terms" in explain(ana)
    plan = explain(ana, off="enable_bitmapscan")
    assert "Index Only Scan using indexing_vector_of_owner" in plan

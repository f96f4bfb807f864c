"""An approximate index answers nearly as an exact scan, and only where it was asked for."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from episodic.models import Conversation
from indexing import approximate
from indexing.models import MemoryKind, VectorIndex
from indexing.owners import scope_of
from retrieval.hits import Hit
from retrieval.scope import Scope, find_scope, in_one
from retrieval.search.in_conversation import Question, search, state
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.indexing.makers import DIM, NOW, fill, make_conversation
from tests.retrieval.searches import make_question

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "owner"]),
    pytest.mark.bench,
]

ROWS = 1500


def ask(where: Conversation | Scope, **changes: object) -> Question:
    vector = np.random.default_rng(7).standard_normal(DIM).astype(np.float32)
    fields = {
        "vector": vector / np.linalg.norm(vector),
        "model": "test",
        "shelves": (MemoryKind.FACT, MemoryKind.EPISODE),
        "fact_limit": 200,
        "episode_limit": 5,
        "now": NOW,
    }
    return make_question("nothing", **{**fields, **changes})


def ids(found: list[Hit]) -> list[uuid.UUID]:
    return [hit.memory_id for hit in found]


def plan_of(where: Conversation | Scope, question: Question) -> str:
    scope = where if isinstance(where, Scope) else in_one(where)
    statement, parameters = state(scope, question)
    with connection.cursor() as cursor:
        # So few rows are sorted as fast as an index gives them: it must be able to at all.
        cursor.execute("SET enable_sort = off")
        cursor.execute("EXPLAIN (ANALYZE, COSTS OFF) " + statement, parameters)
        lines = [row[0] for row in cursor.fetchall()]
        cursor.execute("RESET enable_sort")
    return "\n".join(line for line in lines if "never executed" not in line)


@pytest.fixture
def large(ana: Agent) -> Conversation:
    conversation = make_conversation(ana.tenant)
    conversation.tenant = ana.tenant
    fill(conversation, [f"fact{number}" for number in range(ROWS)])
    other = make_conversation(ana.tenant)
    fill(other, [f"other{number}" for number in range(ROWS)], seed=2)
    return conversation


@pytest.fixture
def scope(large: Conversation) -> VectorIndex:
    return approximate.plan_index(
        tenant=large.tenant,
        conversation_id=large.id,
        shelf=MemoryKind.FACT,
        model="test",
        dim=DIM,
    )


@pytest.fixture
def global_index(large: Conversation) -> Iterator[None]:
    """An index that somebody made over all rows, as tutorials tell."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX everybodys ON indexing_searchvector "
            f"USING hnsw ((embedding::halfvec({DIM})) halfvec_ip_ops)"
        )
        cursor.execute("ANALYZE indexing_searchvector")
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP INDEX everybodys")


def test_an_index_over_everything_takes_nothing_away(
    large: Conversation, global_index: None
) -> None:
    found = search(in_one(large), ask(large))
    assert len(found) == 100
    assert found[0].vector_found == 100
    assert "everybodys" not in plan_of(large, ask(large))


def test_the_index_of_a_scope_is_used_and_finds_nearly_the_same(
    large: Conversation, scope: VectorIndex
) -> None:
    exact = ids(search(in_one(large), ask(large)))
    steps: list[tuple[int, int]] = []
    approximate.build(scope, report=lambda done, total: steps.append((done, total)))
    trial = approximate.try_out(scope)
    scope.recall = trial.recall
    scope.save(force_insert=True)
    assert trial.recall > 0.9
    assert scope.name in plan_of(large, ask(large))
    assert len(set(ids(search(in_one(large), ask(large)))) & set(exact)) >= 95
    for changes in ({"as_of": NOW}, {"category": "skill"}, {"model": "another"}, {"vector": None}):
        assert scope.name not in plan_of(large, ask(large, **changes))
    approximate.drop(scope)
    assert ids(search(in_one(large), ask(large))) == exact


def test_building_again_replaces_what_stood_there(scope: VectorIndex) -> None:
    for _ in range(2):
        approximate.build(scope, report=lambda done, total: None)
        scope.save(force_insert=True)
    assert VectorIndex.objects.of(scope.tenant).count() == 1
    approximate.drop(scope)


def test_a_whole_tenant_may_have_one(scope: VectorIndex) -> None:
    whole = approximate.plan_index(
        tenant=scope.tenant, conversation_id=None, shelf=MemoryKind.FACT, model="test", dim=DIM
    )
    assert approximate.count_vectors(whole) == 2 * ROWS
    approximate.build(whole, report=lambda done, total: None)
    assert approximate.try_out(whole).recall > 0.9
    approximate.drop(whole)


def test_a_user_may_have_one_over_all_his_conversations(ana: Agent) -> None:
    for number in range(2):
        talk = make_conversation(ana.tenant)
        Conversation.objects.of(ana.tenant).filter(id=talk.id).update(user_id="nora")
        words = [f"talk{number} fact{place}" for place in range(ROWS // 2)]
        fill(talk, words, seed=number, user_id="nora")
    where = find_scope(tenant=ana.tenant, conversation=None, scope="user", user_id="nora")
    assert where is not None
    index = approximate.plan_index(
        tenant=ana.tenant,
        conversation_id=None,
        user_scope=scope_of(ana.tenant.id, "nora"),
        shelf=MemoryKind.FACT,
        model="test",
        dim=DIM,
    )
    exact = ids(search(where, ask(where)))
    approximate.build(index, report=lambda done, total: None)
    assert approximate.count_vectors(index) == ROWS
    index.recall = approximate.try_out(index).recall
    index.save(force_insert=True)
    assert index.recall > 0.9 and index.name in plan_of(where, ask(where))
    assert len(set(ids(search(where, ask(where)))) & set(exact)) >= 95
    approximate.drop(index)


def test_the_command_refuses_what_it_cannot_build(ana: Agent, large: Conversation) -> None:
    with pytest.raises(CommandError, match="No tenant"):
        call_command("build_vector_index", "nobody")
    with pytest.raises(CommandError, match="no vectors"):
        call_command("build_vector_index", ana.tenant.name, conversation=uuid.uuid4())
    with pytest.raises(CommandError, match="too few"):
        call_command("build_vector_index", ana.tenant.name, conversation=large.external_id)

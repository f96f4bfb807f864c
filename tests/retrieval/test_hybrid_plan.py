"""The plan of hybrid.sql: one text, of which what nobody asked for is folded away.

And those of the others that answer: none compares each row with each.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from episodic.models import Conversation
from indexing.models import MemoryKind, SearchUnit, SearchVector
from retrieval.hits import Hit, load_candidates
from retrieval.markdown import NO_FENCE
from retrieval.models import Retrieval
from retrieval.profile import ProfileRequest, draft_profile
from retrieval.question_times import read_times
from retrieval.receipts import count_served, measure_pace, write_receipt
from retrieval.scope import find_scope, in_one
from retrieval.search.in_conversation import Meaning, Question, search, state
from retrieval.search.in_tenant import SearchRequest, find_with
from retrieval.statements import read_edges, read_file, read_find, read_hybrid, read_profile
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.indexing.makers import DIM, NOW, fill, fill_messages, make_conversation
from tests.notes.graphs import link, write
from tests.retrieval.searches import make_question
from wings.navigation import links

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
    tidy()
    return made[0]


def tidy() -> None:
    """Leave indexes as large as their rows, and plans that know of these."""
    with connections["owner"].cursor() as cursor:
        for model in (SearchUnit, SearchVector):
            cursor.execute(f"REINDEX TABLE {model._meta.db_table}")
            cursor.execute(f"VACUUM (ANALYZE) {model._meta.db_table}")


def ask(**changes: Any) -> Question:
    """Return a question for facts and episodes."""
    fields: dict[str, Any] = {
        "vector": np.ones(DIM, dtype=np.float32) / DIM**0.5,
        "model": "test",
        "shelves": (MemoryKind.FACT, MemoryKind.EPISODE),
        "fact_limit": 20,
        "episode_limit": 5,
        "now": NOW,
    }
    return make_question(**{"words": "lighthouse fact7", **fields, **changes})


def explain(conversation: Conversation, **changes: Any) -> str:
    """Return the plan of a search, without the parts that never ran."""
    statement, parameters = state(in_one(conversation), ask(**changes))
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + statement, parameters)
        lines = [row[0] for row in cursor.fetchall()]
    return "\n".join(line for line in lines if "never executed" not in line)


def test_what_is_believed_now_is_read_from_two_indexes_alone(conversation: Conversation) -> None:
    plan = explain(conversation)
    assert "valid_until" not in plan
    assert "Index Only Scan using indexing_unit_words_of_owner" in plan
    assert "Index Only Scan using indexing_vector_of_owner" in plan
    assert "Seq Scan on indexing_search" not in plan


def test_what_was_true_then_is_read_by_time(conversation: Conversation) -> None:
    plan = explain(conversation, as_of=NOW)
    assert "indexing_unit_time_of_owner" in plan and "indexing_vector_time_of_owner" in plan
    assert "valid_until" in plan
    assert "indexing_unit_words_of_owner" not in plan and "indexing_vector_of_owner" not in plan


def test_single_messages_cost_nothing_where_none_are_asked_for(conversation: Conversation) -> None:
    assert "(kind)::text = 'message'" not in explain(conversation)
    assert "(kind)::text = 'message'" in explain(conversation, line_limit=100)


def test_times_are_found_by_a_range_of_an_index_where_the_question_names_some(
    conversation: Conversation,
) -> None:
    read_by_time = "valid_at >= span.since"
    times = read_times("on 1 May 2026", at=NOW)
    assert read_by_time not in explain(conversation, line_limit=100)
    plan = explain(conversation, line_limit=100, times=times)
    range_read = plan[plan.index(read_by_time) - 1000 : plan.index(read_by_time)]
    assert "indexing_unit_time_of_owner" in range_read


def test_without_a_vector_no_vector_is_read(conversation: Conversation) -> None:
    assert "indexing_vector_of_owner" not in explain(conversation, meaning=Meaning())


def find_wasteful_joins(plan: dict[str, Any]) -> list[str]:
    """Return the joins that throw away more than a hundred rows for each that they return."""
    rows = plan["Actual Rows"] * plan["Actual Loops"]
    removed = plan.get("Rows Removed by Join Filter", 0) * plan["Actual Loops"]
    own = [f"{plan['Node Type']}: {removed} for {rows}"] if removed > 100 * max(rows, 1) else []
    return [*own, *(join for part in plan.get("Plans", []) for join in find_wasteful_joins(part))]


WHOLE = {
    "find.sql": read_find(),
    "hybrid.sql": read_hybrid(),
    "links.sql": read_edges("links.sql", once=False),
    "load.sql": read_file("load.sql"),
    "neighbours.sql": read_edges("neighbours.sql", once=True),
    "pace.sql": read_file("pace.sql"),
    "profile.sql": read_profile(),
    "scope.sql": read_file("scope.sql"),
    "served.sql": read_file("served.sql"),
    "walk.sql": read_edges("walk.sql", once=True),
    "write_receipt.sql": read_file("write_receipt.sql"),
}
PARTS = {"describing.sql", "edges.sql"}
"""Of others: explained where these are."""


@contextmanager
def explaining() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yield a list of file and plan of all statements of retrieval that the block runs."""
    plans: list[tuple[str, dict[str, Any]]] = []
    names = {read_shape(text): name for name, text in WHOLE.items()}

    def explain_first(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        prepared = re.match(r"PREPARE (\w+) AS (.*?); SET LOCAL", sql, re.DOTALL)
        if prepared:
            names[prepared[1]] = names[read_shape(prepared[2])]
        kept = re.search(r"EXECUTE (memory_\w+) ", sql)
        name = names.get(kept[1] if kept else read_shape(sql))
        if name:
            explained = "EXPLAIN (ANALYZE, FORMAT JSON) "
            explain = sql.replace("EXECUTE", explained + "EXECUTE") if kept else explained + sql
            with transaction.atomic():  # a receipt is written once
                execute(explain, params, many, context)
                plans.append((name, context["cursor"].fetchone()[0][0]["Plan"]))
                transaction.set_rollback(True)
        rest = sql[kept.start() :] if kept else sql  # what was explained is prepared
        return execute(rest, params, many, context)

    with connection.execute_wrapper(explain_first):
        yield plans


def read_shape(text: str) -> str:
    """Return a statement without its parameters, whether it is kept or sent whole."""
    return re.sub(r"%\(\w+\)s|\$\d+", "?", text)


def test_no_join_compares_each_row_with_each(ana: Agent) -> None:
    conversation = make_conversation(ana.tenant)
    conversation.tenant = ana.tenant
    facts = fill(conversation, [f"fact{number} of the lighthouse" for number in range(500)])
    fill_messages(conversation, episodes=60)
    hub, *others = (uuid.UUID(write(ana, f"Note {number}.")) for number in range(60))
    for other in others:
        link(ana, hub, other)
    tidy()
    hits = [Hit(memory_id, MemoryKind.FACT, rank=1, score=1.0) for memory_id in facts]
    everywhere = SearchRequest(query="lighthouse", max_results=100)
    homes = Conversation.objects.of(ana.tenant)
    homes.filter(id=conversation.id).update(user_id="mira", in_user_scope=False)
    with explaining() as plans:
        for agent_id in (None, "pets"):
            of_user = find_scope(
                tenant=ana.tenant,
                conversation=None,
                scope="user",
                user_id="mira",
                agent_id=agent_id,
            )
            assert of_user is not None
            search(of_user, ask(line_limit=100, episode_limit=60))
        search(in_one(conversation), ask())
        search(in_one(conversation), ask(line_limit=100, episode_limit=60))
        search(in_one(conversation), ask(line_limit=100, as_of=NOW))
        load_candidates(
            in_one(conversation), hits, hits, with_pinned=True, with_retired=True, whole=True
        )
        find_with(tenant=ana.tenant, request=everywhere, meaning=Meaning())
        receipt = Retrieval(
            tenant=ana.tenant,
            asked_by=ana.key,
            kind=Retrieval.Kind.RETRIEVE,
            query="lighthouse",
            parameters={},
            conversation=conversation,
            embedding_model="test",
        )
        write_receipt(receipt, hits=hits, started=time.monotonic())
        count_served(ana.tenant, facts)
        draft_profile(ana.tenant, in_one(conversation), ProfileRequest(), NO_FENCE, now=NOW)
        measure_pace(ana.tenant, spans=[(NOW, NOW + timedelta(days=1000))], at_most=100)
        links.walk(tenant=ana.tenant, start=hub, depth=3)
        links.links_of(tenant=ana.tenant, memory_id=hub, at_most=100)
        links.neighbours(tenant=ana.tenant, memory_ids=[hub, *others])
    assert {name for name, _ in plans} == WHOLE.keys()
    files = {path.name for path in (settings.BASE_DIR / "retrieval" / "sql").glob("*.sql")}
    assert files == WHOLE.keys() | PARTS, "a new statement is explained here, too"
    wasteful = [(name, join) for name, plan in plans for join in find_wasteful_joins(plan)]
    assert wasteful == []

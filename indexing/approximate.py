"""Approximate vector indexes, each over the vectors of one large scope and memory kind.

An index over all rows returns its nearest rows, of which few pass the filter of a search. These
indexes are partial, so that every row in one passes.
"""

import hashlib
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from django.db import connections
from psycopg import sql

from indexing.models import MemoryKind, VectorIndex
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant

NEIGHBOURS = 100
QUESTIONS = 50
POLL_S = 0.5
BUILD_MEMORY = "1GB"

PROGRESS = """
SELECT tuples_done, tuples_total FROM pg_stat_progress_create_index
WHERE relid = 'indexing_searchvector'::regclass AND tuples_total > 0
"""
OF_OWNER = "CASE WHEN user_scope IS NULL THEN conversation_id ELSE user_scope END = {}"
"""The expression with which `hybrid.sql` filters by user: the planner compares its text."""
Report = Callable[[int, int], None]
"""Function that takes how many rows are done and how many there are."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Quality of an index: `recall` of the nearest 100, median milliseconds of a search."""

    recall: float
    approximate_ms: float
    exact_ms: float


def plan_index(
    *,
    tenant: Tenant,
    conversation_id: uuid.UUID | None,
    shelf: MemoryKind,
    model: str,
    dim: int,
    user_scope: uuid.UUID | None = None,
) -> VectorIndex:
    """Return an index to be built; searches use it once it is built and its row is saved.

    Its name is always the same for the same scope: a conversation, by the server's id, or a user's
    (see `owners.scope_of`), or the whole tenant without either.
    """
    parts = [tenant.id, conversation_id or user_scope, shelf, model, dim]
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
    return VectorIndex(
        tenant=tenant,
        conversation_id=conversation_id,
        user_scope=user_scope,
        shelf=shelf.value,
        model=model,
        dim=dim,
        name=f"indexing_near_{digest[:24]}",
    )


def _condition(index: VectorIndex) -> sql.Composed:
    """Return the index condition, with constants: the planner compares them."""
    parts = [
        sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value))
        for name in "tenant_id conversation_id shelf model dim".split()
        if (value := getattr(index, name)) is not None
    ]
    if index.user_scope:
        parts.append(sql.SQL(OF_OWNER).format(sql.Literal(index.user_scope)))
    return sql.SQL(" AND ").join([*parts, sql.SQL("invalid_at IS NULL")])


def count_vectors(index: VectorIndex) -> int:
    """Return how many rows the index would hold."""
    statement = sql.SQL("SELECT count(*) FROM indexing_searchvector WHERE {}")
    return int(execute(statement.format(_condition(index)))[0][0])


def build(index: VectorIndex, *, report: Report) -> None:
    """Build the index while reads and writes go on; an index of the same name is replaced.

    An interrupted build leaves a dead index behind, which the next one removes.
    """
    drop(index)
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(done, report))
    memory = "SELECT set_config('maintenance_work_mem', %s, false)"
    statement = sql.SQL(
        "CREATE INDEX CONCURRENTLY {} ON indexing_searchvector USING hnsw "
        "((embedding::halfvec({})) halfvec_ip_ops) WHERE {}"
    ).format(sql.Identifier(index.name), sql.Literal(index.dim), _condition(index))
    execute(memory, [BUILD_MEMORY], using="owner")
    watcher.start()
    try:
        execute(statement, using="owner")
    finally:
        done.set()
        watcher.join()


def _watch(done: threading.Event, report: Report) -> None:
    """Report the progress of the build, on a connection of this thread."""
    try:
        while not done.wait(POLL_S):
            for row in execute(PROGRESS, using="owner"):
                report(*row)
    finally:
        connections["owner"].close()


def drop(index: VectorIndex) -> None:
    """Remove the index; searches scan all rows again."""
    VectorIndex.objects.of(index.tenant).filter(name=index.name).delete()
    statement = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(index.name))
    execute(statement, using="owner")


def try_out(index: VectorIndex) -> Trial:
    """Compare the index with an exact scan, by searching for stored vectors."""
    recalls, exact_ms, near_ms = [], [], []
    for question in _draw_questions(index):
        exact, took = _nearest(index, question, exactly=True)
        exact_ms.append(took)
        near, took = _nearest(index, question, exactly=False)
        near_ms.append(took)
        recalls.append(len(exact & near) / len(exact))
    return Trial(sum(recalls) / len(recalls), median(near_ms), median(exact_ms))


def _draw_questions(index: VectorIndex) -> list[str]:
    """Return a sample of the stored vectors, always the same."""
    statement = sql.SQL(
        "SELECT embedding::text FROM indexing_searchvector WHERE {} "
        "ORDER BY hashtext(id::text), id LIMIT {}"
    )
    rows = execute(statement.format(_condition(index), sql.Literal(QUESTIONS)))
    return [embedding for (embedding,) in rows]


def _nearest(index: VectorIndex, question: str, *, exactly: bool) -> tuple[set[uuid.UUID], float]:
    """Return the nearest rows and the milliseconds that the search took."""
    # Adding nothing keeps the planner off the approximate index.
    order = sql.SQL("(embedding::halfvec({0}) <#> {1}::halfvec) {2}").format(
        sql.Literal(index.dim), sql.Literal(question), sql.SQL("+ 0" if exactly else "")
    )
    statement = sql.SQL("SELECT id FROM indexing_searchvector WHERE {} ORDER BY {} LIMIT {}")
    started = time.perf_counter()
    rows = execute(statement.format(_condition(index), order, sql.Literal(NEIGHBOURS)))
    return {row[0] for row in rows}, (time.perf_counter() - started) * 1000

"""Reads the statements under `sql`, inserts the parts that several share, and runs them.

Only constants are inserted: everything that somebody said is a parameter.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import ProgrammingError, connection
from psycopg.errors import DuplicatePreparedStatement, InvalidSqlStatementName

from indexing.models import MemoryKind
from memoryproject.database.clock import execute, read_sql

NEAREST_OF_ALL = """
    SELECT memory_id, embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND shelf = '{shelf}' AND model = %(model)s AND dim = %(dim)s
        AND invalid_at IS NULL AND (SELECT TRUE FROM near WHERE shelf = '{shelf}')
    ORDER BY distance LIMIT %(near_pool)s
"""
WITHIN = """(%(everyone)s
            OR CASE WHEN user_scope IS NULL THEN conversation_id ELSE user_scope END
                = ANY((SELECT owners FROM scope)::uuid[]))
        AND CASE WHEN %(shared)s THEN conversation_id IS DISTINCT FROM %(left_out)s::uuid
                AND (NOT %(of_agent)s OR conversation_id = ANY(%(homes)s::uuid[]))
            ELSE conversation_id = %(conversation)s END"""
COUNTED = """CASE WHEN %(shared)s
            THEN conversation_id IS NULL AND user_scope = ANY(%(owners)s::uuid[])
            ELSE conversation_id = %(conversation)s AND user_scope IS NULL END"""
BELIEVED = """CASE WHEN %(believed)s THEN memory_id IN (SELECT id FROM known)
            AND (shelf = 'fact' OR valid_at <= coalesce(%(as_of)s::timestamptz, 'infinity'))
        WHEN %(as_of)s::timestamptz IS NULL THEN invalid_at IS NULL
        ELSE valid_at <= %(as_of)s::timestamptz
            AND coalesce(valid_until, 'infinity') > %(as_of)s::timestamptz END"""
PASSES = "(NOT %(filtered)s OR memory_id IN (SELECT id FROM passing))"


@cache
def read_hybrid() -> str:
    """Return the text of the statement that searches a conversation or a user."""
    parts = {"within": WITHIN, "counted": COUNTED, "believed": BELIEVED}
    return _insert(read_file("hybrid.sql"), parts)


@cache
def read_find(*, routed: bool = False) -> str:
    """Return the text of the statement that finds memories of a whole tenant.

    `routed`: for Citus, whose planner needs the tenant condition on every table.
    """
    body = read_file("find.sql")
    described = _read_body("describing.sql")
    parts = {
        "passing": described.replace("{only}", "TRUE"),
        "described": described.replace("{only}", "memory.id = matched.memory_id"),
        "passes": PASSES,
        "routed": "AND tenant_id = %(tenant)s" if routed else "",
        **{f"near_{shelf}s": NEAREST_OF_ALL.replace("{shelf}", shelf) for shelf in MemoryKind},
    }
    return _insert(body, parts)


def _insert(text: str, parts: dict[str, str]) -> str:
    """Return a statement with its parts at their names in braces."""
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


@cache
def read_edges(name: str, *, once: bool) -> str:
    """Return the text of a statement that follows links; `once`: each memory once per list."""
    edges = _read_body("edges.sql")
    for column, end in (("once_to", "to_memory_id"), ("once_from", "from_memory_id")):
        edges = edges.replace(f"{{{column}}}", f"DISTINCT ON (link.{end})" if once else "")
    return read_file(name).replace("{edges}", edges)


@cache
def read_profile() -> str:
    """Return the text of the statement that selects the facts of a profile."""
    load = _read_body("load.sql")
    for slot in ("facts", "episodes"):
        chosen = "(SELECT ids FROM {slot})::uuid[]".replace("{slot}", slot)
        load = load.replace(f"%({slot})s::uuid[]", chosen)
    return read_file("profile.sql").replace("{load}", load)


def _read_body(name: str) -> str:
    """Return a part without the `WITH` at its beginning."""
    return read_file(name).removeprefix("WITH\n")


SLOT = re.compile(r"%\((\w+)\)s")
FOUND_ELSEWHERE = InvalidSqlStatementName, DuplicatePreparedStatement
"""Errors of a session without a plan, or with a plan that this process did not prepare."""
# A plan made while tables were small is kept, so it must not scan whole tables.
PLANNED_FOR_ANY = """
SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;
"""


def run(
    text: str, params: dict[str, Any], *, fixed: Iterable[str] = (), keep: bool = True
) -> list[Any]:
    """Return the rows of a statement that the connection prepares once and runs many times.

    There is one plan for each combination of the values of `fixed`, so keep these few; each plan
    leaves out what it does not need.

    A pooler may lend another session, in which the plan is missing or was prepared for another
    text.
    """
    name, prepare, by_plan = _to_plan(text, tuple((key, repr(params[key])) for key in fixed))
    is_distributed = connection.is_distributed  # type: ignore[attr-defined]
    if keep and not connection.in_atomic_block and not is_distributed:
        connection.ensure_connection()  # a request may begin with this statement
        kept = vars(connection.connection).setdefault("kept_plans", set())
        for _ in range(2):
            try:
                rows = execute(by_plan if name in kept else prepare + by_plan, params)
            except ProgrammingError as error:
                if not isinstance(error.__cause__, FOUND_ELSEWHERE):
                    raise
                kept ^= {name}
            else:
                kept.add(name)
                return rows
    return execute(text, params)


@cache
def _to_plan(text: str, fixed: tuple[tuple[str, str], ...]) -> tuple[str, str, str]:
    """Return the name of a plan, the statement that prepares it, and the one that runs it."""
    name = "memory_" + hashlib.sha256(repr((text, fixed)).encode()).hexdigest()[:32]
    written = {key for key, _ in fixed}
    names = list(dict.fromkeys(slot for slot in SLOT.findall(text) if slot not in written))

    def number(slot: re.Match[str]) -> str:
        return slot[0] if slot[1] in written else f"${names.index(slot[1]) + 1}"

    values = ", ".join(f"%({slot})s" for slot in names)
    prepare = f"PREPARE {name} AS {SLOT.sub(number, text)}; "
    return name, prepare, f"{PLANNED_FOR_ANY.strip()} EXECUTE {name} ({values})"


def to_array(items: Iterable[str]) -> str:
    """Return numbers or ids in PostgreSQL's array syntax."""
    return "{" + ",".join(items) + "}"


def fetch_dicts(cursor: Any) -> list[dict[str, Any]]:
    """Return the result of a statement, each row by column name."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def read_file(name: str) -> str:
    """Return the text of a file under `sql` without its header."""
    return read_sql(__file__, name)

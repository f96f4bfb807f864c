"""The texts of statements: the one that searches is put together from files under `sql`.

Of constants only: whatever somebody said is a parameter.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

BELIEVED = "invalid_at IS NULL"
IN_CATEGORY = """(
    %(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text
)"""
BELIEVED_SIZE = """
    SELECT shelf, units::float8 AS n, greatest(lexemes::float8 / units, 1) AS average_dl, counted
    FROM indexing_shelfsize
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND shelf = ANY(%(shelves)s) AND units > 0
"""
NEAREST = """
    SELECT unit_id, memory_id,
        embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance, '{shelf}'
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND shelf = '{shelf}' AND model = %(model)s AND dim = %(dim)s AND invalid_at IS NULL
        AND (SELECT TRUE FROM near WHERE shelf = '{shelf}')
    ORDER BY distance LIMIT %({shelf}_pool)s
"""
NEAREST_OF_ALL = """
    SELECT memory_id, embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND shelf = '{shelf}' AND model = %(model)s AND dim = %(dim)s
        AND invalid_at IS NULL AND (SELECT TRUE FROM near WHERE shelf = '{shelf}')
    ORDER BY distance LIMIT %(near_pool)s
"""
HOME = """
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND external_id = %(conversation)s::uuid
"""
PASSES = "(NOT %(filtered)s OR memory_id IN (SELECT id FROM passing))"
OF_SOURCE = """
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND external_id::text = ANY(%(source_ids)s::text[])
"""
TRUE_THEN = """(
    valid_at <= %(as_of)s::timestamptz
    AND coalesce(valid_until, 'infinity') > %(as_of)s::timestamptz
)"""
TRUE_THEN_SIZE = f"""
    SELECT shelf, count(*)::float8 AS n, greatest(avg(dl), 1)::float8 AS average_dl,
        FALSE AS counted
    FROM indexing_searchunit
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND shelf = ANY(%(shelves)s) AND {TRUE_THEN}
    GROUP BY shelf
"""
NO_LINES = "line AS (SELECT NULL::uuid AS memory_id, NULL::json AS lines WHERE FALSE)"


@cache
def read_statement(*, as_of: bool, lines: bool) -> str:
    """Return the text of the one statement.

    It is about now or about another time, with single messages or without.
    """
    body = "WITH\n" + _read_body("hybrid.sql")
    parts = {
        "held": TRUE_THEN if as_of else BELIEVED,
        "size": TRUE_THEN_SIZE if as_of else BELIEVED_SIZE,
        "believed": str(not as_of),
        "in_category": IN_CATEGORY,
        "near_facts": NEAREST.replace("{shelf}", "fact"),
        "near_episodes": NEAREST.replace("{shelf}", "episode"),
        "lines": _read_body("lines.sql") if lines else NO_LINES,
    }
    for name, part in parts.items():
        body = body.replace(f"{{{name}}}", part)
    return body


@cache
def read_find() -> str:
    """Return the text of the statement that finds memories of a whole tenant."""
    body = "WITH\n" + _read_body("find.sql")
    described = _read_body("describing.sql").replace("{named}", OF_SOURCE.strip())
    parts = {  # in this order: some hold others
        "passing": described.replace("{only}", "TRUE"),
        "described": described.replace("{only}", "memory.id = matched.memory_id"),
        "passes": PASSES,
        "home": HOME.strip(),
        "near_facts": NEAREST_OF_ALL.replace("{shelf}", "fact"),
        "near_episodes": NEAREST_OF_ALL.replace("{shelf}", "episode"),
        "near_notes": NEAREST_OF_ALL.replace("{shelf}", "note"),
    }
    for name, part in parts.items():
        body = body.replace(f"{{{name}}}", part)
    return body


@cache
def read_edges(name: str, *, once: bool) -> str:
    """Return the text of a statement that follows links; `once`: each memory one time a list."""
    edges = _read_body("edges.sql")
    for column, end in (("once_to", "to_memory_id"), ("once_from", "from_memory_id")):
        edges = edges.replace(f"{{{column}}}", f"DISTINCT ON (link.{end})" if once else "")
    return read_file(name).replace("{edges}", edges)


def _read_body(name: str) -> str:
    """Return what follows the header of a file."""
    return read_file(name).partition("\nWITH\n")[2]


@cache
def read_file(name: str) -> str:
    """Return the text of a file under `sql`."""
    return (Path(__file__).parent / "sql" / name).read_text(encoding="utf-8")

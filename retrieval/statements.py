"""Reads the statements under `sql`, and fills in the parts that several of them share.

Of constants only: whatever somebody said is a parameter.
"""

from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

from indexing.models import MemoryKind

NEAREST_OF_ALL = """
    SELECT memory_id, embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND shelf = '{shelf}' AND model = %(model)s AND dim = %(dim)s
        AND invalid_at IS NULL AND (SELECT TRUE FROM near WHERE shelf = '{shelf}')
    ORDER BY distance LIMIT %(near_pool)s
"""
PASSES = "(NOT %(filtered)s OR memory_id IN (SELECT id FROM passing))"


@cache
def read_find(*, routed: bool = False) -> str:
    """Return the text of the statement that finds memories of a whole tenant.

    `routed`: for Citus, whose planner looks for the tenant beside every table.
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
    """Return a part without the `WITH` that tells where it begins."""
    return read_file(name).removeprefix("WITH\n")


def fetch_dicts(cursor: Any) -> list[dict[str, Any]]:
    """Return what a statement has answered, each row by the names of its columns."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@cache
def read_file(name: str) -> str:
    """Return the text of a file under `sql` without its header, which is for people."""
    text = (Path(__file__).parent / "sql" / name).read_text(encoding="utf-8")
    return "".join(dropwhile(lambda line: line.startswith("--"), text.splitlines(keepends=True)))

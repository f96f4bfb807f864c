"""How much disk the tables and their indexes take."""

from __future__ import annotations

from typing import Any

from bench.retrieval.databases import Connection

READ = """
SELECT relname, relkind = 'i', pg_relation_size(oid) + CASE WHEN reltoastrelid > 0
    THEN pg_total_relation_size(reltoastrelid) ELSE 0 END, greatest(reltuples, 0)::bigint
FROM pg_class
WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
ORDER BY 3 DESC, 1
"""
AT_LEAST_BYTES = 1 << 20


def measure(connection: Connection) -> list[dict[str, Any]]:
    """Return tables and indexes of a megabyte or more, largest first."""
    return [
        {"name": name, "index": is_index, "bytes": size, "rows": rows}
        for name, is_index, size, rows in connection.execute(READ)
        if size >= AT_LEAST_BYTES
    ]


def database_bytes(connection: Connection) -> int:
    """Return what the whole database takes, without the log."""
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0

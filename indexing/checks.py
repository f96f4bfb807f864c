"""System checks: pgvector is new enough, and vectors have the size of those in the index."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from indexing.models import SearchVector
from memoryproject.database.clock import execute

LOOKED_AT = 1000
"""Number of newest vectors that are checked: these show a changed size."""

PGVECTOR = (0, 8)
"""First version with `hnsw.iterative_scan`; an older one refuses statements that set it."""


@register(Tags.database)
def check_pgvector(*, databases: Sequence[str] | None = None, **options: Any) -> list[CheckMessage]:
    """Report a pgvector that is too old."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    rows = execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if not rows or tuple(map(int, rows[0][0].split(".")[:2])) >= PGVECTOR:
        return []
    return [
        Error(
            f"pgvector is {rows[0][0]}; 0.8 or newer is needed.",
            hint="Install it on the database's server, then ALTER EXTENSION vector UPDATE.",
            id="indexing.E002",
        )
    ]


@register(Tags.database)
def check_size_of_vectors(
    *, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Report an embedder whose vectors differ in size from those stored under its name.

    Vectors of different size are never compared, so search by meaning would silently find nothing
    that is stored.
    """
    if DEFAULT_DB_ALIAS not in (databases or ()) or not _is_migrated():
        return []
    # Every command loads this module; loading the models would take a second.
    embedders = import_string("memoryproject.ai.embeddings.get_embedders")()
    newest = SearchVector.across_tenants.order_by("-id").values_list("model", "dim")[:LOOKED_AT]
    return [
        Error(
            f"{embedder.name} is set to give vectors of size {embedder.dim}, but the index holds"
            f" some of its vectors of size {dim}.",
            hint="Set MEMORY_EMBEDDING_DIM as it was, or give the other model a name of its own.",
            id="indexing.E001",
        )
        for embedder in embedders
        for model, dim in sorted(set(newest))
        if model == embedder.name and dim != embedder.dim
    ]


def _is_migrated() -> bool:
    table = SearchVector._meta.db_table
    return table in connections[DEFAULT_DB_ALIAS].introspection.table_names()

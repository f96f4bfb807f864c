"""Django's compilers, except that rows are inserted by VALUES: Citus cannot route UNNEST."""

from django.db.backends.postgresql.compiler import (  # noqa: F401
    SQLAggregateCompiler,
    SQLCompiler,
    SQLDeleteCompiler,
    SQLUpdateCompiler,
)
from django.db.models.sql.compiler import SQLInsertCompiler  # noqa: F401

"""Django's compilers, but several rows are inserted by VALUES: an UNNEST cannot be routed."""

from django.db.backends.postgresql.compiler import (  # noqa: F401
    SQLAggregateCompiler,
    SQLCompiler,
    SQLDeleteCompiler,
    SQLUpdateCompiler,
)
from django.db.models.sql.compiler import SQLInsertCompiler  # noqa: F401

"""Getting rid of what deleted rows leave behind in the tables' files."""

from __future__ import annotations

from django.apps import apps
from django.db import connections
from psycopg import sql

from memoryproject.tenancy.models import TenantModel


def vacuum(*, rewrite: bool) -> int:
    """Vacuum every table that rows are erased from, as their owner; return how many.

    The room of deleted rows is used again, and then overwritten. With `rewrite` each table
    is written anew without them, at once; nobody else reads or writes it meanwhile. What
    Postgres writes ahead, and backups, keep what they hold until they are dropped.
    """
    models = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    tables = sorted({model._meta.db_table for model in models} | {"django_q_ormq"})
    how = sql.SQL("VACUUM (FULL) {}" if rewrite else "VACUUM {}")
    connection = connections["owner"]
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(how.format(sql.Identifier(table)))
    connection.close()
    return len(tables)

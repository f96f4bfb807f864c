"""Vacuums the tables, so that nothing of deleted rows is left in their files."""

from django.apps import apps
from django.db import connections
from psycopg import sql


def vacuum(*, rewrite: bool) -> int:
    """Vacuum every table of ours, as their owner; return how many.

    The room of deleted rows is used again, and then overwritten. With `rewrite` each table
    is written anew without them, at once; nobody else reads or writes it meanwhile. The
    planner's statistics, which hold values of rows, are taken anew. What Postgres writes
    ahead, and backups, keep what they hold until they are dropped.
    """
    # All: the admin's log, saved searches and the name of a tenant are erased from, too.
    tables = sorted({model._meta.db_table for model in apps.get_models() if model._meta.managed})
    how = sql.SQL("VACUUM (FULL, ANALYZE) {}" if rewrite else "VACUUM (ANALYZE) {}")
    connection = connections["owner"]
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(how.format(sql.Identifier(table)))
    connection.close()
    return len(tables)

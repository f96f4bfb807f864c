"""Steps that migrations of every app take; kept stable, since old migrations use them."""

from __future__ import annotations

from django.db import migrations
from django.db.migrations.operations.base import Operation


def reference_name(table: str, column: str) -> str:
    """Return the name of the constraint that keeps `table.column` in its tenant."""
    return f"{table}_{column}_same_tenant"[:63]


class Statement(migrations.RunSQL):
    """SQL that is made from the arguments; a migration that is written anew names these."""

    deconstruct = Operation.deconstruct


class AddTenantReference(Statement):
    """Make Postgres refuse a reference from one tenant's row to another's.

    Adds FOREIGN KEY (tenant_id, `column`) → `target` (tenant_id, id). With `deferred`
    it is checked at commit, for rows that point at each other.
    """

    def __init__(self, table: str, column: str, target: str, *, deferred: bool = False) -> None:
        name = reference_name(table, column)
        timing = "DEFERRABLE INITIALLY DEFERRED" if deferred else ""
        super().__init__(
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" '
            f'FOREIGN KEY (tenant_id, "{column}") REFERENCES "{target}" (tenant_id, id) {timing}',
            f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',
        )


WHOSE = """
    {column} = (SELECT nullif(nullif(current_setting('memory.tenant', true), ''), '*')::uuid)
    OR (SELECT current_setting('memory.tenant', true) = '*')
"""


class AddTenantPolicy(Statement):
    """Let who serves see and write those rows of a table alone whose tenant it acts for.

    The variable `memory.tenant` of the session says for whom: a tenant's id, `*` for all,
    nothing for none. Each subquery is evaluated once in a statement, not for each row. The
    owner of the table, who migrates, is not held to it. Without `reads` all rows are seen,
    and only writing is held to it: for tables on which a condition more costs the plan.
    """

    def __init__(self, table: str, *, column: str = "tenant_id", reads: bool = True) -> None:
        whose = WHOSE.format(column=column)
        make = (
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY;'
            f'CREATE POLICY own_tenant ON "{table}" USING ({whose}) WITH CHECK ({whose});'
        )
        undo = (
            f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY;DROP POLICY own_tenant ON "{table}"'
        )
        if not reads:
            make += f'CREATE POLICY read_by_statements ON "{table}" FOR SELECT USING (true)'
            undo += f';DROP POLICY read_by_statements ON "{table}"'
        super().__init__(make, undo)


class ForbidChanges(Statement):
    """Make a table append-only: UPDATE and DELETE raise, whoever asks."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION public.memory_refuse_change()",
            f"DROP TRIGGER {table}_append_only ON {table}",
        )

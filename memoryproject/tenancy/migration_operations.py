"""Operations for the migrations of all apps; kept stable, since old migrations use them."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations
from django.db.migrations.operations.base import Operation

from memoryproject.tenancy.postgresql.schema import reference_name, reference_sql

HERE = str(Path(__file__).with_name("migrations") / "0001_initial.py")


def read_sql(migration: str, name: str) -> str:
    """Return sql/<name>.sql beside a migration's file."""
    return (Path(migration).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class Statement(migrations.RunSQL):
    """SQL built from the arguments; a squashed migration names these."""

    deconstruct = Operation.deconstruct


class ShareMemoryId(Statement):
    """Make a table's ids those of memories of the same tenant."""

    def __init__(self, table: str) -> None:
        super().__init__(
            reference_sql(table, "id", "indexing_memory"),
            f'ALTER TABLE "{table}" DROP CONSTRAINT "{reference_name(table, "id")}"',
        )


WHOSE = (
    "{column} = nullif(nullif(current_setting('memory.tenant', true), ''), '*')::uuid"
    " OR current_setting('memory.tenant', true) = '*'"
)


class AddTenantPolicy(Statement):
    """Let the serving role read and write only rows of the tenant it acts for.

    The variable `memory.tenant` has the tenant's id, `*` for all, or nothing for none. The policy
    also applies to the owner of the table. Without `reads` all rows can be read, and only writes
    are restricted: for tables whose query plans suffer from another condition.
    """

    def __init__(self, table: str, *, column: str = "tenant_id", reads: bool = True) -> None:
        whose = WHOSE.format(column=column)
        make = (
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY;'
            f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY;'
            f'CREATE POLICY own_tenant ON "{table}" USING ({whose}) WITH CHECK ({whose});'
        )
        undo = (
            f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY;'
            f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY;DROP POLICY own_tenant ON "{table}"'
        )
        if not reads:
            make += f'CREATE POLICY read_by_statements ON "{table}" FOR SELECT USING (true)'
            undo += f';DROP POLICY read_by_statements ON "{table}"'
        super().__init__(make, undo)


class CountStored(Statement):
    """Count a table's rows, and the bytes of some columns, as stored by their tenants.

    With `changes`, also when these columns are updated.
    """

    def __init__(self, table: str, columns: list[str], *, changes: bool = False) -> None:
        size = " + ".join(f"octet_length({column}::text)" for column in columns)
        make = read_sql(HERE, "count_stored")
        if changes:
            make += read_sql(HERE, "count_changed")
        super().__init__(
            make.format(table=table, size=size), f"DROP FUNCTION public.{table}_stored() CASCADE"
        )


class ForbidChanges(Statement):
    """Make a table append-only: UPDATE and DELETE raise for everyone."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION public.memory_refuse_change()",
            f"DROP TRIGGER {table}_append_only ON {table}",
        )

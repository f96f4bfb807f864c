"""Creates tables of tenants with keys that begin with the tenant.

Models keep `id` as their key, as the admin and Django's foreign keys need it. In the database the
key is (tenant_id, id), and foreign keys are (tenant_id, x_id): so it refuses references to other
tenants, and tables can be distributed by tenant.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import schema
from django.db.models import Field, Model

from memoryproject.tenancy.fields import TenantForeignKey

ON_ONE_NODE = ["jobs_job"]
"""Tables that stay on one node when others are distributed: nothing can refer to them."""
PRIMARY_KEY = ', PRIMARY KEY ("tenant_id", "id"))'


def reference_name(table: str, column: str) -> str:
    return f"{table}_{column}_same_tenant"[:63]


def reference_sql(table: str, column: str, target: str) -> str:
    """Return the statement that adds a foreign key which refuses other tenants' rows."""
    return (
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{reference_name(table, column)}" '
        f'FOREIGN KEY (tenant_id, "{column}") REFERENCES "{target}" (tenant_id, id)'
    )


def is_of_tenant(model: type[Model]) -> bool:
    """Return whether a model, current or in a migration, has tenants' rows."""
    return any(field.name == "tenant" for field in model._meta.local_fields)


class SchemaEditor(schema.DatabaseSchemaEditor):
    """Django's schema editor, with keys that include the tenant."""

    def table_sql(self, model: type[Model]) -> tuple[str, list[Any]]:
        text, params = super().table_sql(model)
        if is_of_tenant(model):
            table = model._meta.db_table
            text = text.replace(" PRIMARY KEY", "", 1).removesuffix(")") + PRIMARY_KEY
            # For who looks at all tenants: by id, and from the newest back.
            self.deferred_sql.append(f'CREATE INDEX "{table}_by_id" ON "{table}" ("id")')
        return text, params

    def create_model(self, model: type[Model]) -> None:
        super().create_model(model)
        for field in model._meta.local_fields:
            self._refer(model, field)

    def add_field(self, model: type[Model], field: Field[Any, Any]) -> None:
        super().add_field(model, field)
        self._refer(model, field)

    def _refer(self, model: type[Model], field: Field[Any, Any]) -> None:
        if isinstance(field, TenantForeignKey):
            target = field.remote_field.model._meta.db_table
            if target not in ON_ONE_NODE:
                table = model._meta.db_table
                self.deferred_sql.append(reference_sql(table, field.column, target))

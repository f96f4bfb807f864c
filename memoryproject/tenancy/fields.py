"""Foreign keys that stay within a tenant."""

from typing import Any

from django.db import models
from django.db.models.expressions import Col
from django.db.models.lookups import Exact
from django.db.models.sql.where import WhereNode


class TenantForeignKey(models.ForeignKey[Any, Any]):
    """A foreign key between two rows of the same tenant.

    Django's own constraint is off: `postgresql/schema.py` adds (tenant, column) → (tenant, id), so
    PostgreSQL itself refuses a reference to another tenant. Nothing cascades: only one service
    deletes, in a fixed order.
    """

    def __init__(self, to: Any, **options: Any) -> None:
        options["on_delete"] = models.DO_NOTHING
        options["db_constraint"] = False
        options.setdefault("related_name", "+")
        super().__init__(to, **options)

    def get_extra_restriction(self, alias: Any, related_alias: Any) -> Any:
        """Return the condition that both rows of a join have the same tenant."""
        theirs: Any = self.remote_field.model._meta.get_field("tenant")
        ours: Any = self.model._meta.get_field("tenant")
        key = ours.target_field
        same: Any = Exact(Col(alias, theirs, key), Col(related_alias, ours, key))
        return WhereNode([same])

    def get_extra_descriptor_filter(self, instance: Any) -> dict[str, Any]:
        """Return a further condition on the row that an attribute refers to."""
        return {"tenant_id": instance.tenant_id}

"""Foreign keys that cannot leave their tenant."""

from typing import Any

from django.db import models


class TenantForeignKey(models.ForeignKey[Any, Any]):
    """A foreign key between two rows of the same tenant.

    Django's own constraint is off: the migration adds (tenant, column) → (tenant, id)
    with `AddTenantReference`, so Postgres itself refuses an edge between tenants.
    Nothing cascades: deleting is the business of one service, in one order.
    """

    def __init__(self, to: Any, **options: Any) -> None:
        options["on_delete"] = models.DO_NOTHING
        options["db_constraint"] = False
        options.setdefault("related_name", "+")
        super().__init__(to, **options)

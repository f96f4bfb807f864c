"""Identifiers, and foreign keys that cannot leave their tenant."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import uuid_utils.compat
from django.db import models


def make_id() -> uuid.UUID:
    """Return a new UUIDv7: unique, and in order of making."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """Return what is not above any id made from `moment` on, and above all made before.

    So a span of time is a range of ids. The clock is that of the process that made them.
    """
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


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

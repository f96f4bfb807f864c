"""Managers that load rows of tenants only for a named tenant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.db import models

from memoryproject.tenancy import walls

if TYPE_CHECKING:
    from memoryproject.tenancy.models import Tenant

Row = TypeVar("Row", bound=models.Model)


class UnscopedQuery(Exception):
    """Code queried the rows of all tenants through the manager of one."""


class TenantManager(models.Manager[Row]):
    """Loads nothing unless a tenant is named: `Fact.objects.of(tenant)`."""

    def get_queryset(self) -> models.QuerySet[Row]:
        raise UnscopedQuery(
            f"{self.model.__name__}.objects.of(tenant) loads the rows of one tenant; "
            f"{self.model.__name__}.across_tenants is for the admin and the reconciler."
        )

    def of(self, tenant: Tenant) -> models.QuerySet[Row]:
        """Return the rows of `tenant`, unordered; each has `tenant` set.

        A key bound to users gets only their rows.
        """
        rows = super().get_queryset().filter(tenant=tenant)
        # As Django's related managers do it: no row asks the database for its tenant.
        known = {self.model._meta.get_field("tenant"): {tenant.pk: tenant}}
        rows._known_related_objects = known  # type: ignore[attr-defined]
        users = walls.get_users()
        return rows if users is None else rows.filter(cast(Any, self.model).of_users(users))

    def within(self, conversation: Any) -> models.QuerySet[Row]:
        """Return the rows of a conversation, filtered by its tenant as in `of`."""
        return self.of(conversation.tenant).filter(conversation=conversation)

    def create(self, **values: Any) -> Row:
        if "tenant" not in values and "tenant_id" not in values:
            raise UnscopedQuery(f"{self.model.__name__} needs a tenant.")
        return super().get_queryset().create(**values)

    def bulk_create(self, objs: Iterable[Row], *positional: Any, **options: Any) -> list[Row]:
        return super().get_queryset().bulk_create(objs, *positional, **options)

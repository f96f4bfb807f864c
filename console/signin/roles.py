"""Gives people who come from the provider the roles that a claim names, and no others."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from memoryproject.process.env import Grant
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Membership, Tenant


def find_grants(claims: Mapping[str, Any]) -> set[Grant]:
    """Return the roles that the values of the claim stand for, by the operator's mapping."""
    values = claims.get(settings.OIDC_CLAIM)
    named = values if isinstance(values, list) else [values]
    return {grant for value, grant in settings.OIDC_ROLES if value in named}


@transaction.atomic
def set_roles(person: User, grants: set[Grant]) -> None:
    """Give a person exactly these roles, in all tenants or in single ones; none: no access.

    A tenant that does not exist is passed over.
    """
    person.is_staff = bool(grants)
    person.save(update_fields=["is_staff"])
    person.groups.set(Group.objects.filter(name__in=[g.role for g in grants if not g.tenant]))
    groups = {group.name: group.pk for group in Group.objects.all()}
    with walls.across_tenants():
        named = Tenant.objects.filter(name__in=[grant.tenant for grant in grants])
        tenants = dict(named.values_list("name", "id"))
        wanted = {(tenants[g.tenant], groups[g.role]) for g in grants if g.tenant in tenants}
        rows = Membership.across_tenants.filter(person=person)
        held = {(row.tenant_id, row.role_id): row.pk for row in rows}
        rows.filter(id__in=[held[pair] for pair in held.keys() - wanted]).delete()
        for tenant_id, role_id in wanted - held.keys():
            Membership.objects.create(tenant_id=tenant_id, person=person, role_id=role_id)

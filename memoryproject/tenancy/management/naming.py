"""Finds what the command line names: a tenant by name, a key by id or how its secret begins."""

from __future__ import annotations

from uuid import UUID

from django.core.management.base import CommandError

from memoryproject.tenancy.models import APIKey, Tenant

NAMED = "id of a key, or the first characters of its secret, as list_keys shows them"


def find_named_key(name: str) -> APIKey:
    """Return the key.

    Raises:
        CommandError: there is none, or more than one.
    """
    keys = APIKey.across_tenants.select_related("tenant")
    try:
        matches = list(keys.filter(id=UUID(name)))
    except ValueError:
        matches = list(keys.filter(prefix=name[: APIKey._meta.get_field("prefix").max_length])[:2])
    if len(matches) != 1:
        trouble = "More than one key begins" if matches else "No key has this id or begins"
        raise CommandError(f"{trouble} like this: see manage.py list_keys.")
    return matches[0]


def find_tenant(name: str) -> Tenant:
    """Return the tenant of that name, or raise CommandError."""
    tenant = Tenant.objects.filter(name=name).first()
    if tenant is None:
        raise CommandError(f'No tenant is named "{name}".')
    return tenant

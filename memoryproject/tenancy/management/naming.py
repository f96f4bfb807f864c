"""Base of commands that call services, and lookups by name."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_datetime

from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import APIKey, Tenant

DEFAULT = "default"
"""The word for the server's own limit."""


class ServiceCommand(BaseCommand):
    """A command that calls services, and fails with the message of their errors."""

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)
        except Problem as problem:
            faults = [text for texts in problem.fields.values() for text in texts]
            raise CommandError(" ".join(faults) or problem.message) from problem


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
        raise CommandError(f"{trouble} like this: see manage.py keys.")
    return matches[0]


def find_tenant(name: str) -> Tenant:
    tenant = Tenant.objects.filter(name=name).first()
    if tenant is None:
        raise CommandError(f'No tenant is named "{name}".')
    return tenant


def read_limit(name: str, text: str) -> int | None:
    """Return the limit, None for the server's; raise CommandError if it is invalid."""
    if text == DEFAULT:
        return None
    try:
        return int(text)
    except ValueError:
        raise CommandError(f'A {name} is a whole number, or "{DEFAULT}".') from None


def read_moment(text: str, *, option: str) -> datetime:
    """Return a time; raise CommandError if it is invalid or has no offset."""
    try:
        moment = parse_datetime(text)
    except ValueError:  # such as 31 February
        moment = None
    if moment is None or moment.tzinfo is None:
        raise CommandError(f"{option} must be a time with an offset: 2030-01-31T00:00:00Z")
    return moment

"""The tenants that a person may see in the admin, and the selected one.

A role is a group. Members of the group have the role in all tenants, also in future ones; a
membership gives it in one tenant. Superusers see all tenants. The selected tenant is stored in the
session, and only its rows are visible; people who may see all tenants can also select all.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Membership, Tenant

SESSION_KEY = "tenant"
FIELD = "tenant"
"""Field of an address or a form with the tenant to select; empty: all of them."""
OFFERED_AT_MOST = 200
NAME_SHOWN_AT_MOST = 60
CARRIED = ("q", "days", "phrase", "query", "since", "until")
AN_ID = re.compile(r"/[0-9a-f]{8}-[0-9a-f-]{27}/|/\d+/")


@dataclass(frozen=True)
class TenantChoice:
    """The tenants that a person may see, and the selected one; None: all, or none at all."""

    sees_all: bool
    current: Tenant | None
    request: HttpRequest
    unknown: str = ""
    """The name in the address, if the person sees no tenant of that name."""

    @property
    def whose(self) -> str:
        if self.current is not None:
            return str(self.current.id)
        return walls.EVERYBODY if self.sees_all else walls.NOBODY

    @cached_property
    def offered(self) -> list[Tenant]:
        """The tenants to choose from, by name; always with the selected one."""
        with walls.across_tenants():
            rows = visible_tenants(self.request.user, self.sees_all).order_by("name")
            tenants = list(rows[:OFFERED_AT_MOST])
        missing = self.current is not None and self.current not in tenants
        return [self.current, *tenants] if missing and self.current else tenants

    @property
    def way(self) -> str:
        """Where another choice leads: the same page, or home from the page of a row."""
        path = self.request.path
        return reverse("admin:index") if AN_ID.search(path) else path

    @property
    def carried(self) -> list[tuple[str, str]]:
        """The part of the address that is kept for another tenant."""
        query = self.request.GET
        return [
            (name, query[name])
            for name in CARRIED
            if query.get(name) and not AN_ID.search(self.request.path)
        ]


class RoleBackend(ModelBackend):
    """Gives people the rights of their groups, and of their roles in the selected tenant."""

    def _get_group_permissions(self, user_obj: Any) -> QuerySet[Permission]:
        given = Q(group__user=user_obj)
        if tenant_id := getattr(user_obj, "looks_at", None):
            roles = Membership.across_tenants.filter(person=user_obj, tenant_id=tenant_id)
            with walls.across_tenants():
                given |= Q(group__in=list(roles.values_list("role_id", flat=True)))
        return Permission.objects.filter(given)


def sees_all_tenants(user: Any) -> bool:
    """Return whether the person has a role in all tenants."""
    given: bool = user.groups.exists() or user.user_permissions.exists()
    return user.is_superuser or given


def visible_tenants(user: Any, sees_all: bool) -> QuerySet[Tenant]:
    """Return the tenants that a person may see; to be read across tenants."""
    if sees_all:
        return Tenant.objects.all()
    memberships = Membership.across_tenants.filter(person=user)
    return Tenant.objects.filter(id__in=memberships.values("tenant_id"))


def choose_tenant(request: HttpRequest) -> TenantChoice:
    """Return the selected tenant of a request, and remember it in the session.

    It is named by the address, or for this request only by a form, or is that of the request
    before. Otherwise it is the only tenant, or the first by name in which the person is a member.
    The name is removed from `request.GET`.
    """
    user: Any = request.user
    sees_all = sees_all_tenants(user)
    with walls.across_tenants():
        tenants = visible_tenants(user, sees_all).order_by("name", "id")
        current, unknown = _find_named(request, tenants, sees_all)
        if current is None and SESSION_KEY not in request.session:
            first = list(tenants[:2])
            if len(first) == 1 or (first and not sees_all):
                current = first[0]
    user.looks_at = current.id if current else None
    return TenantChoice(sees_all, current, request, unknown)


def _find_named(
    request: HttpRequest, tenants: QuerySet[Tenant], sees_all: bool
) -> tuple[Tenant | None, str]:
    """Return the tenant that the request or its session names, and the name if it is unknown."""
    unknown = ""
    if FIELD in request.GET:
        name = request.GET[FIELD].strip()
        query = request.GET.copy()
        del query[FIELD]
        request.GET = query  # type: ignore[assignment]
        if not name and sees_all:
            request.session[SESSION_KEY] = ""
        elif named := _find(tenants, name):
            request.session[SESSION_KEY] = str(named.id)
        else:
            unknown = name[:NAME_SHOWN_AT_MOST]
    if request.method == "POST" and (named := _find(tenants, request.POST.get(FIELD, ""))):
        return named, unknown
    chosen = request.session.get(SESSION_KEY)
    if not chosen:
        return None, unknown
    current = tenants.filter(id=chosen).first()
    if current is None:  # erased, or the membership ended
        del request.session[SESSION_KEY]
    return current, unknown


def _find(tenants: QuerySet[Tenant], name: str) -> Tenant | None:
    return tenants.filter(name=name).first() if name and "\x00" not in name else None


@contextmanager
def looking_at(user: User, tenant: Tenant) -> Iterator[None]:
    """Show a tenant's rows, with the person's rights there, until the block ends."""
    before = getattr(user, "looks_at", None)
    try:
        _look_at(user, tenant.id)
        with walls.acting_for(tenant.id):
            yield
    finally:
        _look_at(user, before)


def _look_at(user: Any, tenant_id: Any) -> None:
    user.looks_at = tenant_id
    for cached in ("_perm_cache", "_group_perm_cache"):
        if hasattr(user, cached):  # the user of a request is lazy, and has no such `__dict__`
            delattr(user, cached)

"""Which tenants a person may look at in the admin, and which one they are looking at.

A role is a group. Who is in the group has the role in all tenants, also in those to come; a
membership gives it in one. Superusers see all tenants. The tenant that is looked at is kept
in the session, and the walls show its rows alone; who may see all can look at all at once.
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
"""Field of an address or a form that names the tenant to look at; empty: all of them."""
OFFERED_AT_MOST = 200
NAME_SHOWN_AT_MOST = 60
CARRIED = ("q", "days", "phrase", "query", "since", "until")
AN_ID = re.compile(r"/[0-9a-f]{8}-[0-9a-f-]{27}/|/\d+/")


@dataclass(frozen=True)
class TenantChoice:
    """The tenants that a person may see, and the one looked at; None: all, or none at all."""

    sees_all: bool
    current: Tenant | None
    request: HttpRequest
    unknown: str = ""
    """The name that the address gave, if the person sees no tenant of that name."""

    @property
    def whose(self) -> str:
        if self.current is not None:
            return str(self.current.id)
        return walls.EVERYBODY if self.sees_all else walls.NOBODY

    @cached_property
    def offered(self) -> list[Tenant]:
        """The tenants to choose from, by name; the one looked at is always among them."""
        with walls.across_tenants():
            rows = visible_tenants(self.request.user, self.sees_all).order_by("name")
            tenants = list(rows[:OFFERED_AT_MOST])
        missing = self.current is not None and self.current not in tenants
        return [self.current, *tenants] if missing and self.current else tenants

    @property
    def way(self) -> str:
        """Where another choice leads: the same page, but from the page of a row home."""
        path = self.request.path
        return reverse("admin:index") if AN_ID.search(path) else path

    @property
    def carried(self) -> list[tuple[str, str]]:
        """What of the address holds for another tenant, too."""
        query = self.request.GET
        return [
            (name, query[name])
            for name in CARRIED
            if query.get(name) and not AN_ID.search(self.request.path)
        ]


class RoleBackend(ModelBackend):
    """Gives people the rights of their groups, and of their roles in the tenant looked at."""

    def _get_group_permissions(self, user_obj: Any) -> QuerySet[Permission]:
        given = Q(group__user=user_obj)
        if tenant_id := getattr(user_obj, "looks_at", None):
            roles = Membership.across_tenants.filter(person=user_obj, tenant_id=tenant_id)
            with walls.across_tenants():
                given |= Q(group__in=list(roles.values_list("role_id", flat=True)))
        return Permission.objects.filter(given)


def sees_all_tenants(user: Any) -> bool:
    """Return whether what a person may do holds in all tenants: it was given without one."""
    given: bool = user.groups.exists() or user.user_permissions.exists()
    return user.is_superuser or given


def visible_tenants(user: Any, sees_all: bool) -> QuerySet[Tenant]:
    """Return the tenants that a person may look at; to be read across tenants."""
    if sees_all:
        return Tenant.objects.all()
    memberships = Membership.across_tenants.filter(person=user)
    return Tenant.objects.filter(id__in=memberships.values("tenant_id"))


def choose_tenant(request: HttpRequest) -> TenantChoice:
    """Return the tenant that a request looks at, and remember it in the session.

    That is the one that the address names, for this request alone one that a form names, or
    the one of the request before; without any it is the only one there is, or the first by
    name of those whose member the person is. The name is taken out of `request.GET`.
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
    """Return the tenant that the request or its session names, and a name that is unknown."""
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
    """See a tenant's rows with the rights that a person has there, until the block ends."""
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

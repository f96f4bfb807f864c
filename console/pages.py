"""Shared by the console's views: permissions, rendering, choice of a tenant, rows, actions."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.templatetags.admin_urls import admin_urlname
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from console.action_log import record
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant, TenantModel

TENANTS_OFFERED = 200
Row = TypeVar("Row", bound=TenantModel)
View = Callable[..., HttpResponseBase]


def page_for(*permissions: str) -> Callable[[View], View]:
    """Make a view a page for members of staff who have all these permissions.

    Others who have logged in get 403; who has not is sent to the login.
    """

    def decorate(view: View) -> View:
        guarded = permission_required(permissions, raise_exception=True)(view)
        page: View = admin.site.admin_view(guarded)
        return page

    return decorate


def action_for(*permissions: str) -> Callable[[View], View]:
    """Make a view a page that takes POST alone, for members of staff with these permissions."""
    return lambda view: page_for(*permissions)(require_POST(view))


def show_page(
    request: HttpRequest, template: str, *, title: str, status: int | None = None, **shown: Any
) -> HttpResponse:
    """Render a template that extends `console/page.html` in the admin's frame.

    `tenants` are the names to choose from; they are read only if the template asks for them.
    Without a status it is 400 where a form that was sent has errors, else 200.
    """
    if status is None:
        form = shown.get("form")
        status = 400 if request.method == "POST" and form is not None and form.errors else 200
    context = {**admin.site.each_context(request), "title": title, "tenants": list_tenants, **shown}
    return render(request, template, context, status=status)


def list_tenants() -> list[str]:
    """Return the names of the tenants to choose from."""
    return list(Tenant.objects.order_by("name").values_list("name", flat=True)[:TENANTS_OFFERED])


def get_row(model: type[Row], row_id: uuid.UUID, *related: str) -> Row:
    """Return a row of any tenant, with its tenant and other related rows.

    Raises:
        Http404: there is none.
    """
    rows: QuerySet[Row] = model.across_tenants.select_related("tenant", *related)
    return get_object_or_404(rows, id=row_id)


def act_on(
    request: HttpRequest, row: Model, act: Callable[[], Any], *, done: str = "", logged: str = ""
) -> HttpResponse:
    """Do something to a row, and go to its page with what came of it.

    `logged` is put on record in the same transaction; without it the act has its own, if any.
    Without `done` the act returns the message itself.
    """
    try:
        with transaction.atomic() if logged else nullcontext():
            result = act()
            if logged:
                record(request, row, logged)
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, done or result)
    return redirect_to(row)


def redirect_to(row: Model, *, query: str = "", anchor: str = "") -> HttpResponseRedirect:
    """Return the way to a row's page in the admin."""
    address = reverse(admin_urlname(row._meta, SafeString("change")), args=[row.pk])
    return redirect(f"{address}{query}{anchor}")


def choose_tenant(request: HttpRequest) -> Tenant | None:
    """Return the tenant that the address names as `tenant`, else the oldest; None: there is none.

    People in the admin may look at all tenants, at one at a time.
    """
    tenants = Tenant.objects.order_by("created_at", "id")
    name = request.GET.get("tenant") or request.POST.get("tenant") or ""
    storable = name and "\x00" not in name
    tenant = tenants.filter(name=name).first() if storable else None
    return tenant or tenants.first()


def find_way_back(request: HttpRequest, *, otherwise: str) -> str:
    """Return the page of this server that a form names as `next`, else the other one."""
    back: str = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return back if safe else otherwise

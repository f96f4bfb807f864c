"""Pages of the admin that are not about one table: who may see them, and their frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from memoryproject.tenancy.models import Tenant

View = Callable[..., HttpResponseBase]


def page_for(*permissions: str) -> Callable[[View], View]:
    """Make a view a page for members of staff who have all these permissions.

    Others who have logged in get 403; who has not is sent to the login.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *given: Any, **named: Any) -> HttpResponseBase:
            if not request.user.has_perms(permissions):
                raise PermissionDenied
            return view(request, *given, **named)

        page: View = admin.site.admin_view(guarded)
        return page

    return decorate


def show_page(
    request: HttpRequest, template: str, *, title: str, status: int = 200, **shown: Any
) -> HttpResponse:
    """Render a template that extends `console/page.html` in the admin's frame."""
    frame = admin.site.each_context(request)
    return render(request, template, {**frame, "title": title, **shown}, status=status)


def choose_tenant(request: HttpRequest) -> Tenant | None:
    """Return the tenant that the address names as `tenant`, else the oldest; None: there is none.

    People in the admin may look at all tenants, at one at a time.
    """
    tenants = Tenant.objects.order_by("created_at", "id")
    asked = request.GET.get("tenant") or request.POST.get("tenant") or ""
    storable = asked and "\x00" not in asked
    named = tenants.filter(name=asked).first() if storable else None
    return named or tenants.first()


def find_way_back(request: HttpRequest, *, otherwise: str) -> str:
    """Return the page of this server that a form names as `next`, else the other one."""
    back: str = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return back if safe else otherwise

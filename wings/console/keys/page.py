"""Pages of a key and a tenant, and their actions: keys, limits, budgets, on record."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import NOT_PROVIDED
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from jobs import spending, usage
from jobs.models import Job
from memoryproject.adminkit import values
from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import key_usage, limits, quotas, services
from memoryproject.tenancy.models import APIKey, Scope, Tenant
from retrieval.api import scoped
from retrieval.request import CONVERSATION
from wings.console import pages
from wings.console.keys import forms
from wings.console.keys.admin import DAYS, MANAGE, draw_days, list_days

SET_BUDGET = "tenancy.set_budget"
SEES_USAGE = "tenancy.view_keyusage"
KEYS_SHOWN = 50
USAGE_DAYS, FAILURES_SHOWN = 30, 20
DAYS_SHOWN = 7


def get_key_story(request: HttpRequest, key: APIKey) -> Mapping[str, Any]:
    now = timezone.now()
    state = key.state_at(now)
    days = list_days(key, days=USAGE_DAYS) if request.user.has_perm(SEES_USAGE) else []
    calls = {str(row.day): row.calls for row in days}
    since = now.date() - timedelta(days=DAYS - 1)
    week = [row for row in days if row.day >= since]
    failed = [row.errors + row.faults + row.refused >= row.calls for row in week]
    return {
        "days": days,
        "spark": draw_days(calls, days=USAGE_DAYS) if days else "",
        "key_state": state,
        "failures": key_usage.sum_failures(row.failures for row in week)[:FAILURES_SHOWN],
        "all_fail": state == "active" and bool(failed) and all(failed),
        "key_rate": limits.describe_rate(key),
        "old_secret_until": key.previous_until if state == "active" else None,
        "now": now,
        "scopes": Scope.choices,
        "records": pages.list_records(APIKey, key.id),
    }


def get_tenant_story(request: HttpRequest, tenant: Tenant) -> Mapping[str, Any]:
    shown: dict[str, Any] = {
        "records": pages.list_records(Tenant, tenant.id),
        "stored": quotas.measure_storage(tenant),
        "quota": quotas.describe_quota(tenant),
        "jobs_list": values.list_address(Job, tenant__id=tenant.id),
        "rates": [(unit, limits.describe_rate(tenant, unit)) for unit in limits.SETTINGS],
        "scope": tenant.settings.get(scoped.DEFAULT, CONVERSATION),
    }
    if request.user.has_perm("jobs.view_llmcall"):
        now = timezone.now()
        shown["used"] = usage.measure_today(tenant, now=now)
        since = spending.start_of_day(now) - timedelta(days=DAYS_SHOWN - 1)
        shown["spend_days"] = list(reversed(usage.spend_by_day(tenant, since=since)))
    if request.user.has_perm("tenancy.view_apikey"):
        keys = APIKey.objects.of(tenant).order_by("revoked_at", "-id")
        shown["keys"] = list(keys.filter(revoked_at=None)[:KEYS_SHOWN])
        shown["keys_list"] = values.list_address(APIKey, tenant__id=tenant.id)
    return shown


@never_cache
@sensitive_post_parameters()
@pages.admin_page("console/keys/form.html", "Make a key", MANAGE)
def make_key(request: HttpRequest) -> pages.Answer:
    """Ask for a key's purpose; create it, and show its secret this one time."""
    offered = {
        "key_id": make_id(),
        "tenant": pages.choose_tenant(request) or "",
        "scopes": [Scope.INGEST, Scope.READ],
    }
    form = forms.NewKeyForm(request.POST if request.method == "POST" else None, initial=offered)
    if not form.is_valid():
        return {"form": form, "back": reverse("admin:tenancy_apikey_changelist")}
    params = form.cleaned_data
    with pages.show_problems(request):
        with transaction.atomic():
            created = services.create_api_key(expires_at=params.pop("expires_on"), **params)
            what = f"made it for {', '.join(created.key.scopes)}"
            pages.record(request, created.key, what, is_new=True)
        return show_secret(request, "Key made", created)
    return redirect("admin:tenancy_apikey_changelist")


@pages.action_for(MANAGE)
def revoke_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    key = pages.get_row(APIKey, key_id)
    return pages.act_on(
        request,
        key,
        lambda: services.revoke_api_key(key=key, now=timezone.now()),
        done="Revoked: calls with it are refused from now on.",
        logged="revoked it",
    )


@never_cache
@pages.action_for(MANAGE)
def rotate_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    key = pages.get_row(APIKey, key_id)
    form = forms.RotationForm(request.POST)
    with pages.show_problems(request):
        if not form.is_valid():
            raise Problem(f"Say for how many hours, from 0 to {forms.GRACE_HOURS_AT_MOST}.")
        if form.cleaned_data["replaced"] != key.prefix:
            raise Problem("Its secret was replaced meanwhile, and cannot be shown again.")
        hours = form.cleaned_data["grace_hours"]
        with transaction.atomic():
            created = services.rotate_key(key=key, now=timezone.now(), grace=timedelta(hours=hours))
            what = f"gave it a new secret; the old one ends after {hours} hours"
            pages.record(request, key, what)
        return show_secret(request, "New secret", created)
    return pages.redirect_to(key)


def show_secret(request: HttpRequest, title: str, created: services.NewKey) -> HttpResponse:
    template = "console/keys/secret.html"
    key, secret = created.key, created.secret
    return pages.show_page(request, template, title=title, key=key, name=key.name, secret=secret)


@pages.action_for(MANAGE)
def set_key_rate(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Set the rate of a key; an empty field means the server's rate."""
    key = pages.get_row(APIKey, key_id)
    form = forms.RateForm(request.POST)

    def set_rate() -> str:
        if not form.is_valid():
            raise Problem(f"A rate is a whole number from 0 to {forms.CALLS_AT_MOST}.")
        limits.set_rate(key, form.cleaned_data["rate"])
        return limits.describe_rate(key)

    done, logged = "Its calls are limited to: {}.", "set its calls to: {}"
    return pages.act_on(request, key, set_rate, done=done, logged=logged)


@pages.admin_page(pages.FORM, "Set the limits", MANAGE)
def set_limits(request: HttpRequest, tenant_id: uuid.UUID) -> pages.Answer:
    """Set the rates, the quota, the budget of questions and the default scope of a tenant."""
    tenant = get_object_or_404(Tenant, id=tenant_id)
    posted = request.POST if request.method == "POST" else None
    stored = {name: value or 0 for name, value in tenant.settings.items()}  # null: no limit
    form = forms.LimitsForm(posted, initial={scoped.DEFAULT: CONVERSATION, **stored})
    if not form.is_valid():
        title = f"Set the limits of {tenant.name}"
        return {"title": title, "form": form, "back": values.page_address(tenant)}
    params = form.cleaned_data
    with transaction.atomic():
        for unit, name in limits.SETTINGS.items():
            limits.set_rate(tenant, params[name], unit)
        quotas.set_quota(tenant, {name: params[name] for name in (quotas.BYTES, quotas.ROWS)})
        budget = params[spending.QUESTIONS]
        own_budget = NOT_PROVIDED if budget is None else budget or None
        spending.set_budget(tenant, own_budget, spending.QUESTIONS)
        tenant.change_setting(scoped.DEFAULT, params[scoped.DEFAULT])
        own = [f"{name} {params[name]}" for name in params if params[name] is not None]
        pages.record(request, tenant, f"set its limits: {', '.join(own)}")
    messages.success(request, "The limits are set.")
    return pages.redirect_to(tenant)


@pages.admin_page("console/keys/budget.html", "Budget", SET_BUDGET)
def set_budget(request: HttpRequest, tenant_id: uuid.UUID) -> pages.Answer:
    tenant = get_object_or_404(Tenant, id=tenant_id)
    posted = request.POST if request.method == "POST" else None
    form = forms.BudgetForm(posted, initial=read_budget(tenant))
    if form.is_valid():
        with transaction.atomic():
            freed, what = put_budget(tenant, form.cleaned_data)
            pages.record(request, tenant, what)
        goes_on = f" {freed} job{'s' * (freed != 1)} that waited for it will try again."
        messages.success(request, f"Done: {what}.{goes_on if freed else ''}")
        return pages.redirect_to(tenant)
    return {
        "title": f"Budget of {tenant.name}",
        "form": form,
        "owner": tenant,
        "used": usage.measure_today(tenant, now=timezone.now()),
    }


def read_budget(tenant: Tenant) -> dict[str, Any]:
    if spending.SETTING not in tenant.settings:
        return {"kind": forms.BudgetForm.DEFAULT}
    own = tenant.settings[spending.SETTING]
    return {"kind": forms.BudgetForm.NONE if own is None else forms.BudgetForm.OWN, "amount": own}


def put_budget(tenant: Tenant, params: Mapping[str, Any]) -> tuple[int, str]:
    """Set a tenant's budget; return how many parked jobs continue, and a text about it."""
    if params["kind"] == forms.BudgetForm.DEFAULT:
        return spending.set_budget(tenant, NOT_PROVIDED), "set the budget to the server’s"
    if params["kind"] == forms.BudgetForm.NONE:
        return spending.set_budget(tenant, None), "took every limit off the budget"
    freed = spending.set_budget(tenant, params["amount"])
    return freed, f"set the budget to {params['amount']:f} a day"

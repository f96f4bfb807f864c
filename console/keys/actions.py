"""Creating, revoking, rotating and limiting API keys, and setting a tenant's budget, on record."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from console.action_log import record
from console.keys.forms import (
    GRACE_HOURS_AT_MOST,
    BudgetForm,
    NewKeyForm,
    QuotaForm,
    RateForm,
    RotationForm,
)
from console.keys.page import MANAGE, SET_BUDGET
from console.pages import (
    act_on,
    action_for,
    choose_tenant,
    get_row,
    page_for,
    redirect_to,
    show_page,
)
from jobs import spending, usage
from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import limits, quotas, services
from memoryproject.tenancy.models import APIKey, Scope, Tenant


@never_cache
@sensitive_post_parameters()
@page_for(MANAGE)
def make_key(request: HttpRequest) -> HttpResponse:
    """Ask what a key is for; make it, and show its secret this one time."""
    offered = {
        "key_id": make_id(),
        "tenant": choose_tenant(request) or "",
        "scopes": [Scope.INGEST, Scope.READ],
    }
    form = NewKeyForm(request.POST if request.method == "POST" else None, initial=offered)
    if not form.is_valid():
        return show_page(request, "console/keys/form.html", title="Make a key", form=form)
    params = form.cleaned_data
    try:
        with transaction.atomic():
            created = services.create_api_key(
                tenant=params["tenant"],
                name=params["name"],
                scopes=params["scopes"],
                expires_at=params["expires_on"],
                key_id=params["key_id"],
                rate=params["rate"],
                user_ids=params["user_ids"],
                links=params["links"],
            )
            record(
                request, created.key, f"made it for {', '.join(created.key.scopes)}", is_new=True
            )
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("admin:tenancy_apikey_changelist")
    return show_secret(request, "Key made", created)


@action_for(MANAGE)
def revoke_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """End a key for good."""
    key = get_row(APIKey, key_id)
    return act_on(
        request,
        key,
        lambda: services.revoke_api_key(key=key, now=timezone.now()),
        done="Revoked: calls with it are refused from now on.",
        logged="revoked it",
    )


@never_cache
@action_for(MANAGE)
def rotate_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Give a key another secret, and show it this one time."""
    key = get_row(APIKey, key_id)
    form = RotationForm(request.POST)
    try:
        if not form.is_valid():
            raise Problem(f"Say for how many hours, from 0 to {GRACE_HOURS_AT_MOST}.")
        if form.cleaned_data["replaced"] != key.prefix:
            raise Problem("Its secret was replaced meanwhile, and cannot be shown again.")
        hours = form.cleaned_data["grace_hours"]
        with transaction.atomic():
            created = services.rotate_key(key=key, now=timezone.now(), grace=timedelta(hours=hours))
            record(request, key, f"gave it a new secret; the old one ends after {hours} hours")
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect_to(key)
    return show_secret(request, "New secret", created)


def show_secret(request: HttpRequest, title: str, created: services.NewKey) -> HttpResponse:
    """Show a new secret this one time."""
    template = "console/keys/secret.html"
    return show_page(request, template, title=title, key=created.key, secret=created.secret)


@action_for(MANAGE)
def set_key_rate(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Set how often a key may call; an empty field gives it the server's rate."""
    key = get_row(APIKey, key_id)
    form = RateForm(request.POST)

    def set_rate() -> str:
        if not form.is_valid():
            raise Problem(
                f"A rate is a whole number from 0 to {limits.RATES_AT_MOST[limits.CALLS]}."
            )
        with transaction.atomic():
            limits.set_key_rate(key, form.cleaned_data["rate"])
            record(request, key, f"set its calls to: {limits.describe_key_rate(key)}")
        return f"Its calls are limited to: {limits.describe_key_rate(key)}."

    return act_on(request, key, set_rate)


@action_for(MANAGE)
def set_quota(request: HttpRequest, tenant_id: uuid.UUID) -> HttpResponse:
    """Set how much a tenant may store; an empty field gives it the server's limit."""
    tenant = get_object_or_404(Tenant, id=tenant_id)
    form = QuotaForm(request.POST)

    def set_limits() -> str:
        if not form.is_valid():
            raise Problem(f"A quota is a whole number from 0 to {quotas.QUOTA_AT_MOST}.")
        with transaction.atomic():
            quotas.set_quota(tenant, form.cleaned_data)
            record(request, tenant, f"set its quota to {quotas.describe_quota(tenant)}")
        return f"Its quota is set to {quotas.describe_quota(tenant)}."

    return act_on(request, tenant, set_limits)


@page_for(SET_BUDGET)
def set_budget(request: HttpRequest, tenant_id: uuid.UUID) -> HttpResponse:
    """Show what a tenant may spend, and set it."""
    tenant = get_object_or_404(Tenant, id=tenant_id)
    posted = request.POST if request.method == "POST" else None
    form = BudgetForm(posted, initial=read_budget(tenant))
    if form.is_valid():
        with transaction.atomic():
            freed, what = put_budget(tenant, form.cleaned_data)
            record(request, tenant, what)
        goes_on = f" {freed} job{'s' * (freed != 1)} that waited for it will try again."
        messages.success(request, f"Done: {what}.{goes_on if freed else ''}")
        return redirect_to(tenant)
    return show_page(
        request,
        "console/keys/budget.html",
        title=f"Budget of {tenant.name}",
        form=form,
        owner=tenant,
        used=usage.measure_today(tenant, now=timezone.now()),
    )


def read_budget(tenant: Tenant) -> dict[str, Any]:
    """Return a tenant's budget as the form holds it."""
    if spending.SETTING not in tenant.settings:
        return {"kind": BudgetForm.DEFAULT}
    own = tenant.settings[spending.SETTING]
    if own is None:
        return {"kind": BudgetForm.NONE}
    return {"kind": BudgetForm.OWN, "amount": own}


def put_budget(tenant: Tenant, params: Mapping[str, Any]) -> tuple[int, str]:
    """Set a tenant's budget; return how many parked jobs go on, and what was done in words."""
    if params["kind"] == BudgetForm.DEFAULT:
        return spending.use_default_budget(tenant), "set the budget to the server’s"
    if params["kind"] == BudgetForm.NONE:
        return spending.set_budget(tenant, None), "took every limit off the budget"
    freed = spending.set_budget(tenant, params["amount"])
    return freed, f"set the budget to {params['amount']:f} a day"

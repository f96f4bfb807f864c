"""Making and revoking API keys, and setting what a tenant may spend. All of it is on record."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from console.pages import page_for, show_page
from console.records import record, records_of
from jobs import spending, usage
from jobs.models import Job
from memoryproject import admin_values as values
from memoryproject.errors import Problem
from memoryproject.tenancy import limits, services
from memoryproject.tenancy.fields import make_id
from memoryproject.tenancy.models import APIKey, Scope, Tenant

MANAGE, SET_BUDGET = "tenancy.manage_apikey", "tenancy.set_budget"
TENANTS_OFFERED = 200
KEYS_SHOWN = 50
DAYS_SHOWN = 7


class NewKeyForm(forms.Form):
    """What a key is for."""

    key_id = forms.UUIDField(widget=forms.HiddenInput)
    tenant = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"list": "key-tenants", "autocomplete": "off"}),
        help_text="The name of a tenant that there is.",
    )
    name = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Who or what will use the key.",
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="Give no more than is needed.",
        error_messages={"required": "Choose at least one."},
    )
    expires_on = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="It ends with this day (UTC). Empty: it does not end by itself.",
    )

    rate = forms.IntegerField(
        required=False,
        label="Calls a minute",
        min_value=0,
        max_value=limits.RATE_AT_MOST,
        help_text="0: no limit. Empty: as the server’s settings say.",
    )

    def clean_tenant(self) -> Tenant:
        """Return the tenant of that name."""
        tenant = Tenant.objects.filter(name=self.cleaned_data["tenant"]).first()
        if tenant is None:
            raise ValidationError("No tenant has this name.")
        return tenant

    def clean_name(self) -> str:
        """Return the name; it can be printed."""
        name = str(self.cleaned_data["name"])
        if not name.isprintable():
            raise ValidationError("Use characters that can be printed.")
        return name

    def clean_expires_on(self) -> datetime | None:
        """Return the end of the day, which lies ahead."""
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        if day.year > 9000:
            raise ValidationError("This is too far away.")
        end = datetime.combine(day, time(), UTC) + timedelta(days=1)
        if end <= timezone.now():
            raise ValidationError("This day is over.")
        return end


@never_cache
@sensitive_post_parameters()
@page_for(MANAGE)
def make_key(request: HttpRequest) -> HttpResponse:
    """Ask what a key is for; make it, and show its secret this one time."""
    if request.method != "POST":
        offered = {
            "key_id": make_id(),
            "tenant": request.GET.get("tenant", ""),
            "scopes": [Scope.INGEST, Scope.READ],
        }
        return show_key_form(request, NewKeyForm(initial=offered))
    form = NewKeyForm(request.POST)
    if not form.is_valid():
        return show_key_form(request, form, status=400)
    given = form.cleaned_data
    try:
        with transaction.atomic():
            made = services.create_api_key(
                tenant=given["tenant"],
                name=given["name"],
                scopes=given["scopes"],
                expires_at=given["expires_on"],
                key_id=given["key_id"],
                rate=given["rate"],
            )
            record(request, made.key, f"made it for {', '.join(made.key.scopes)}", is_new=True)
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("admin:tenancy_apikey_changelist")
    return show_page(
        request, "console/key_made.html", title="Key made", key=made.key, secret=made.secret
    )


def show_key_form(request: HttpRequest, form: NewKeyForm, *, status: int = 200) -> HttpResponse:
    """Show the form of a new key, with its faults if it has any."""
    names = Tenant.objects.order_by("name").values_list("name", flat=True)[:TENANTS_OFFERED]
    return show_page(
        request,
        "console/key_form.html",
        title="Make a key",
        status=status,
        form=form,
        tenants=list(names),
    )


@page_for(MANAGE)
@require_POST
def revoke_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """End a key for good."""
    key = get_object_or_404(APIKey.across_tenants.select_related("tenant"), id=key_id)
    try:
        with transaction.atomic():
            services.revoke_api_key(key=key, now=timezone.now())
            record(request, key, "revoked it")
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Revoked: calls with it are refused from now on.")
    return redirect("admin:tenancy_apikey_change", key.pk)


def tell_key(request: HttpRequest, key: APIKey) -> Mapping[str, Any]:
    """Return how a key stands, what it may do, and what people did to it."""
    now = timezone.now()
    state, manages = key.state_at(now), request.user.has_perm(MANAGE)
    return {
        "key_state": state,
        "key_rate": limits.describe_key_rate(key),
        "old_secret_until": key.previous_until
        if state == "active" and key.previous_until and key.previous_until > now
        else None,
        "key_scopes": [
            {"name": scope.value, "says": scope.label, "given": scope.value in key.scopes}
            for scope in Scope
        ],
        "may_revoke": key.revoked_at is None and manages,
        "may_rotate": state == "active" and manages,
        "records": records_of(key),
    }


class BudgetForm(forms.Form):
    """What the language model may cost a tenant in a day."""

    DEFAULT, NONE, OWN = "default", "none", "own"
    kind = forms.ChoiceField(label="Limit", widget=forms.RadioSelect)
    amount = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=spending.MOST,
        max_digits=15,
        decimal_places=8,
        help_text="A day, in the currency of the prices.",
    )

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        usual = settings.DAILY_BUDGET
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (self.DEFAULT, f"the server’s: {'no limit' if usual is None else f'{usual:f} a day'}"),
            (self.NONE, "no limit"),
            (self.OWN, "this amount:"),
        ]

    def clean(self) -> dict[str, Any]:
        """Return the choice; an amount goes with its own kind alone."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("kind") != self.OWN or "amount" not in given:
            return given
        if given["amount"] is None:
            self.add_error("amount", "Say how much.")
            return given
        try:
            spending.check_budget(given["amount"])
        except Problem as problem:
            self.add_error("amount", problem.message)
        return given


@page_for(SET_BUDGET)
def set_budget(request: HttpRequest, tenant_id: uuid.UUID) -> HttpResponse:
    """Show what a tenant may spend, and set it."""
    tenant = get_object_or_404(Tenant, id=tenant_id)
    form = BudgetForm(request.POST or None, initial=read_budget(tenant))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            freed, what = put_budget(tenant, form.cleaned_data)
            record(request, tenant, what)
        goes_on = f" {freed} job{'s' * (freed != 1)} that waited for it will try again."
        messages.success(request, f"Done: {what}.{goes_on if freed else ''}")
        return redirect("admin:tenancy_tenant_change", tenant.pk)
    return show_page(
        request,
        "console/budget.html",
        title=f"Budget of {tenant.name}",
        status=400 if request.method == "POST" else 200,
        form=form,
        owner=tenant,
        used=usage.measure_usage(tenant, days=1, now=timezone.now()),
    )


def read_budget(tenant: Tenant) -> dict[str, Any]:
    """Return a tenant's budget as the form holds it."""
    if spending.SETTING not in tenant.settings:
        return {"kind": BudgetForm.DEFAULT}
    own = tenant.settings[spending.SETTING]
    if own is None:
        return {"kind": BudgetForm.NONE}
    return {"kind": BudgetForm.OWN, "amount": own}


def put_budget(tenant: Tenant, given: Mapping[str, Any]) -> tuple[int, str]:
    """Set a tenant's budget; return how many parked jobs go on, and what was done in words."""
    if given["kind"] == BudgetForm.DEFAULT:
        return spending.use_default_budget(tenant), "set the budget to the server’s"
    if given["kind"] == BudgetForm.NONE:
        return spending.set_budget(tenant, None), "took every limit off the budget"
    freed = spending.set_budget(tenant, given["amount"])
    return freed, f"set the budget to {given['amount']:f} a day"


def tell_tenant(request: HttpRequest, tenant: Tenant) -> Mapping[str, Any]:
    """Return a tenant's keys and what it spends, for those who may see them."""
    told: dict[str, Any] = {
        "records": records_of(tenant),
        "may_set_budget": request.user.has_perm(SET_BUDGET),
        "may_make_keys": request.user.has_perm(MANAGE),
    }
    if request.user.has_perm("jobs.view_llmcall"):
        now = timezone.now()
        told["used"] = usage.measure_usage(tenant, days=1, now=now)
        since = spending.start_of_day(now) - timedelta(days=DAYS_SHOWN - 1)
        told["spend_days"] = list(reversed(usage.spend_by_day(tenant, since=since)))
    if request.user.has_perm("tenancy.view_apikey"):
        keys = APIKey.objects.of(tenant).order_by("revoked_at", "-id")
        told["keys"] = list(keys.filter(revoked_at=None)[:KEYS_SHOWN])
        told["keys_list"] = values.list_address(APIKey, tenant__id=tenant.id)
    if request.user.has_perm("jobs.view_job"):
        told["jobs_list"] = values.list_address(Job, tenant__id=tenant.id)
    return told

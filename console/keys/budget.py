"""The page on which an operator sets what a tenant may spend in a day."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from console.action_log import record
from console.keys.page import SET_BUDGET
from console.pages import page_for, show_page
from jobs import spending, usage
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = settings.DAILY_BUDGET
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (self.DEFAULT, f"the server’s: {'no limit' if usual is None else f'{usual:f} a day'}"),
            (self.NONE, "no limit"),
            (self.OWN, "this amount:"),
        ]

    def clean(self) -> dict[str, Any]:
        """Return the choice; an amount goes with its own kind alone."""
        params: dict[str, Any] = super().clean() or {}
        if params.get("kind") != self.OWN or "amount" not in params:
            return params
        if params["amount"] is None:
            self.add_error("amount", "Say how much.")
            return params
        try:
            spending.check_budget(params["amount"])
        except Problem as problem:
            self.add_error("amount", problem.message)
        return params


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
        "console/keys/budget.html",
        title=f"Budget of {tenant.name}",
        status=400 if request.method == "POST" else 200,
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

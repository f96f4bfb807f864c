"""Creating, revoking and rotating API keys, and setting their rate, on record."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from console.action_log import record
from console.keys.forms import GRACE_HOURS_AT_MOST, NewKeyForm, RateForm, RotationForm
from console.keys.page import MANAGE
from console.pages import act_on, get_row, page_for, show_page
from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import limits, services
from memoryproject.tenancy.models import APIKey, Scope


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
        return show_form(request, NewKeyForm(initial=offered))
    form = NewKeyForm(request.POST)
    if not form.is_valid():
        return show_form(request, form, status=400)
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
            )
            record(
                request, created.key, f"made it for {', '.join(created.key.scopes)}", is_new=True
            )
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("admin:tenancy_apikey_changelist")
    return show_secret(request, "Key made", created)


def show_form(request: HttpRequest, form: NewKeyForm, *, status: int = 200) -> HttpResponse:
    """Show the form of a new key, with its faults if it has any."""
    template = "console/keys/form.html"
    return show_page(request, template, title="Make a key", status=status, form=form)


@page_for(MANAGE)
@require_POST
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
@page_for(MANAGE)
@require_POST
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
        return redirect("admin:tenancy_apikey_change", key.pk)
    return show_secret(request, "New secret", created)


def show_secret(request: HttpRequest, title: str, created: services.NewKey) -> HttpResponse:
    """Show a new secret this one time."""
    template = "console/keys/secret.html"
    return show_page(request, template, title=title, key=created.key, secret=created.secret)


@page_for(MANAGE)
@require_POST
def set_key_rate(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Set how often a key may call; an empty field gives it the server's rate."""
    key = get_row(APIKey, key_id)
    form = RateForm(request.POST)

    def set_rate() -> str:
        if not form.is_valid():
            raise Problem(f"A rate is a whole number from 0 to {limits.RATE_AT_MOST}.")
        with transaction.atomic():
            limits.set_key_rate(key, form.cleaned_data["rate"])
            record(request, key, f"set its calls to: {limits.describe_key_rate(key)}")
        return f"Its calls are limited to: {limits.describe_key_rate(key)}."

    return act_on(request, key, set_rate)

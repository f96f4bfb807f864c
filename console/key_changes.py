"""What people change about a key that is in use: its secret, and how often it may call."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from console.keys import MANAGE
from console.pages import page_for, show_page
from console.records import record
from memoryproject.errors import Problem
from memoryproject.tenancy import limits, services
from memoryproject.tenancy.models import APIKey

GRACE_HOURS_AT_MOST = services.GRACE_AT_MOST // timedelta(hours=1)


class RotationForm(forms.Form):
    """How long the secret so far goes on being accepted."""

    replaced = forms.CharField(max_length=12)
    """How the secret begins that is to be replaced: sent twice, the form does it once."""
    grace_hours = forms.IntegerField(min_value=0, max_value=GRACE_HOURS_AT_MOST)


@never_cache
@page_for(MANAGE)
@require_POST
def rotate_key(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Give a key another secret, and show it this one time."""
    key = get_object_or_404(APIKey.across_tenants.select_related("tenant"), id=key_id)
    form = RotationForm(request.POST)
    try:
        if not form.is_valid():
            raise Problem(f"Say for how many hours, from 0 to {GRACE_HOURS_AT_MOST}.")
        if form.cleaned_data["replaced"] != key.prefix:
            raise Problem("Its secret was replaced meanwhile, and cannot be shown again.")
        hours = form.cleaned_data["grace_hours"]
        with transaction.atomic():
            made = services.rotate_key(key=key, now=timezone.now(), grace=timedelta(hours=hours))
            record(request, key, f"gave it a new secret; the old one ends after {hours} hours")
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("admin:tenancy_apikey_change", key.pk)
    return show_page(
        request, "console/key_made.html", title="New secret", key=key, secret=made.secret
    )


class RateForm(forms.Form):
    """How often a key may call."""

    rate = forms.IntegerField(required=False, min_value=0, max_value=limits.RATE_AT_MOST)


@page_for(MANAGE)
@require_POST
def set_key_rate(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Set how often a key may call; an empty field gives it the server's rate."""
    key = get_object_or_404(APIKey.across_tenants.select_related("tenant"), id=key_id)
    form = RateForm(request.POST)
    if form.is_valid():
        with transaction.atomic():
            limits.set_key_rate(key, form.cleaned_data["rate"])
            record(request, key, f"set its calls to: {limits.describe_key_rate(key)}")
        messages.success(request, f"Its calls are limited to: {limits.describe_key_rate(key)}.")
    else:
        messages.error(request, f"A rate is a whole number from 0 to {limits.RATE_AT_MOST}.")
    return redirect("admin:tenancy_apikey_change", key.pk)

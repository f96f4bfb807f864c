"""The pages of a webhook: make it, with its secret shown once, try it, and delete it."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy.models import Tenant
from wings.console import pages
from wings.console.forms import TextForm, submit
from wings.console.keys.admin import MANAGE
from wings.events import outbox, sending
from wings.events.models import URL_AT_MOST, Webhook
from wings.events.types import list_choices

SHOWN_ONCE = "console/webhooks/secret.html"
LIST = "admin:events_webhook_changelist"


class WebhookForm(TextForm):
    url = forms.CharField(max_length=URL_AT_MOST, widget=forms.URLInput)
    types = forms.MultipleChoiceField(
        choices=list_choices, required=False, widget=forms.CheckboxSelectMultiple
    )


@never_cache
@pages.admin_page(pages.FORM, "Make a webhook", MANAGE, of_one_tenant=True)
def make_webhook(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    """Ask for an address; create the webhook, and show its secret this one time."""
    form = WebhookForm(request.POST if request.method == "POST" else None)

    def make() -> HttpResponse:
        actor = request.user.get_username()
        with transaction.atomic():
            webhook = outbox.add_webhook(tenant=tenant, actor=actor, **form.cleaned_data)
            pages.record(request, webhook, "made it", is_new=True)
        secret = sending.write_secret(webhook)
        return pages.show_page(
            request,
            SHOWN_ONCE,
            title="Webhook made",
            webhook=webhook,
            name=webhook.url,
            secret=secret,
        )

    return submit(form, make) or {"form": form, "back": reverse(LIST)}


def get_story(request: HttpRequest, webhook: Webhook) -> Mapping[str, Any]:
    return {"records": pages.list_records(Webhook, webhook.id)}


@pages.action_for(MANAGE)
def change_webhook(request: HttpRequest, webhook_id: uuid.UUID, name: str) -> HttpResponse:
    """Post a test delivery and show its outcome, or delete the webhook."""
    webhook = pages.get_row(Webhook, webhook_id)
    if name == "delete":
        pages.record(request, webhook, "deleted it")
        outbox.delete_webhook(webhook)
        messages.success(request, "Deleted.")
        return redirect(LIST)
    outcome = sending.send_test(webhook, now=read_database_clock())
    pages.record(request, webhook, f"sent a test delivery: {outcome}")
    tell = messages.success if outcome.is_delivered else messages.error
    tell(request, f"Test delivery: {outcome}.")
    return pages.redirect_to(webhook)

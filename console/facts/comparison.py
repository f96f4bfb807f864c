"""The comparison page: what was believed at one moment and not at another, with who and why."""

from datetime import timedelta
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.forms import ConversationField, MomentField, submit
from console.highlights import show_difference
from console.pages import choose_tenant, page_for, show_page
from episodic import queries as episodic_queries
from memoryproject.adminkit.filters import MOMENT_EXAMPLE
from memoryproject.tenancy.models import Tenant
from semantic import beliefs
from semantic.beliefs import FactDifference

SHOWN_AT_MOST = 500
TONES = {"added": "good", "restored": "good", "corrected": "bad", "ended": "warn"}


class ComparisonForm(forms.Form):
    """Which moments to compare, and where."""

    since = MomentField(label="From (UTC)")
    until = MomentField(required=False, label="To (UTC)")
    conversation = ConversationField(required=False, label="Conversation")

    def clean(self) -> dict[str, Any]:
        """Return the moments; without a later one it is now."""
        params: dict[str, Any] = super().clean() or {}
        params["until"] = params.get("until") or timezone.now()
        if params.get("since") and params["since"] > params["until"]:
            self.add_error("until", "This lies before the other.")
        return params


@page_for("semantic.view_fact", "semantic.view_changeset", of_one_tenant=True)
def show_comparison(request: HttpRequest) -> HttpResponse:
    """Show how what was believed at two moments differs, the newest act first."""
    tenant = choose_tenant(request)
    yesterday = f"{timezone.now() - timedelta(days=1):%Y-%m-%d}"
    form = ComparisonForm(
        request.GET if "since" in request.GET else None, initial={"since": yesterday}
    )
    differences = submit(form, partial(_compare, form, tenant)) if tenant is not None else None
    return show_page(
        request,
        "console/facts/comparison.html",
        title="Compare two moments",
        status=400 if form.errors else 200,
        tenant=tenant,
        form=form,
        example=MOMENT_EXAMPLE,
        differences=None if differences is None else _render(differences[:SHOWN_AT_MOST]),
        left_out=max(len(differences or ()) - SHOWN_AT_MOST, 0),
    )


def _compare(form: ComparisonForm, tenant: Tenant) -> list[FactDifference]:
    params, conversation = form.cleaned_data, None
    if params["conversation"] is not None:
        conversation = episodic_queries.find_conversation(
            tenant=tenant, external_id=params["conversation"]
        )
        if conversation is None:
            return []
    found = beliefs.compare(
        tenant=tenant, since=params["since"], until=params["until"], conversation=conversation
    )
    return found[::-1]


def _render(differences: list[FactDifference]) -> list[dict[str, Any]]:
    return [
        {
            "row": item,
            "tone": TONES.get(item.what.value, ""),
            "change": show_difference(item.fact.fact, item.newer.fact)
            if item.fact and item.newer
            else "",
        }
        for item in differences
    ]

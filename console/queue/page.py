"""The review queue's page, and what can be done there: accept, decline, keep, snooze, assign."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from console.facts.actions import SEES_FACT
from console.facts.bulk_actions import read_versions
from console.pages import action_for, choose_tenant, page_for, show_page
from console.queue.items import CANDIDATES, list_items, show_sources
from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import link
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import curation, suggestions, triage
from semantic.curation import REASON_AT_MOST, Act
from semantic.models import Changeset

SHOWN_AT_MOST = 20
"""Each is shown with the messages behind its facts."""
SNOOZE = timedelta(days=7)
DECISIONS = {"accept": "Accepted", "decline": "Declined"}
SET_ASIDE = {
    "keep": "Kept as it is",
    "snooze": "Snoozed for a week",
    "return": "Back in the queue",
    "note": "Noted",
}
FILTERS = ("fact", "mine", "aside")


class NoteForm(forms.Form):
    """Who takes an item on, and what there is to say about it."""

    assignee = forms.CharField(max_length=150, required=False)
    comment = forms.CharField(max_length=500, required=False)


@page_for("semantic.view_fact", "semantic.view_suggestion", of_one_tenant=True)
def show_queue(request: HttpRequest) -> HttpResponse:
    """Show what is to be looked at in a tenant, what matters most first.

    With `fact` what is about it, with `mine` what the person has taken on, with `aside` what
    was snoozed or kept.
    """
    return _render(request)


@action_for(*SEES_FACT, of_one_tenant=True)
def decide(request: HttpRequest) -> HttpResponse:
    """Do something about one item, and go back to the queue."""
    tenant, decision = choose_tenant(request), request.POST.get("decision", "")
    try:
        if tenant is None or decision not in DECISIONS | SET_ASIDE:
            raise Problem("Accept or decline an entry.")
        entry, actor = request.POST.get("entry", ""), request.user.get_username()
        if decision in DECISIONS:
            done = DECISIONS[decision]
            reason = request.POST.get("reason", "").strip() or f"{done} in the review queue."
            changeset = decide_on(Act(tenant, actor, reason), entry, accepts=decision == "accept")
            undo = link(changeset, "its changeset")
            messages.success(request, format_html("{}. To undo it, revert {}.", done, undo))
        else:
            set_aside(tenant, request.POST, decision, actor=actor)
            messages.success(request, f"{SET_ASIDE[decision]}.")
    except Problem as problem:
        return _render(request, problem=problem.message, status=400)
    kept = {name: request.POST[name] for name in FILTERS if request.POST.get(name)}
    return redirect(
        f"{reverse('console:review_queue')}?{urlencode({'tenant': tenant.name, **kept})}"
    )


def decide_on(act: Act, key: str, *, accepts: bool) -> Changeset:
    """Accept or decline the item that a form names; return the changeset of that.

    Raises:
        Problem: there is no such item, it has changed since it was shown, or the reason is long.
    """
    kind, _, name = key.partition(":")
    versions, suggestion_id = read_versions(name), read_id(name)
    if kind == "pending" and versions:
        do = curation.approve_facts if accepts else curation.reject_facts
        return do(act=act, fact_ids=list(versions), versions=versions)[0]
    if kind != "suggestion" or suggestion_id is None:
        raise Problem("There is no such entry.")
    decide = suggestions.accept_suggestion if accepts else suggestions.decline_suggestion
    changeset: Changeset = decide(act=act, suggestion_id=suggestion_id).decided_by
    return changeset


def set_aside(tenant: Tenant, sent: Any, decision: str, *, actor: str) -> None:
    """Keep, snooze or bring back the fact that a form names, or note who does what about it.

    Raises:
        Problem: there is no such fact, or the note is too long.
    """
    fact_id = read_id(sent.get("about", ""))
    if fact_id is None:
        raise Problem("There is no such entry.")
    until = timezone.now() + SNOOZE if decision == "snooze" else None
    values: dict[str, Any] = {"snoozed_until": until, "is_kept": decision == "keep"}
    if decision == "note":
        form = NoteForm(sent)
        if not form.is_valid():
            raise Problem("A name has 150 characters at most, a comment 500.")
        values = form.cleaned_data
    triage.set_triage(tenant, fact_id, actor=actor, **values)


def _render(request: HttpRequest, *, problem: str = "", status: int = 200) -> HttpResponse:
    tenant = choose_tenant(request)
    chosen = {name: request.GET.get(name, "") for name in FILTERS}
    items = []
    if tenant is not None:
        items = list_items(
            tenant,
            now=timezone.now(),
            about=read_id(chosen["fact"]),
            assignee=request.user.get_username() if chosen["mine"] else "",
            set_aside=bool(chosen["aside"]),
        )
        show_sources(items[:SHOWN_AT_MOST], Reader(request.user))
    rates = triage.measure_rules(tenant) if tenant else {}
    return show_page(
        request,
        "console/queue/queue.html",
        title="Review queue",
        status=status,
        problem=problem,
        owner=tenant,
        items=items[:SHOWN_AT_MOST],
        total=len(items),
        is_cut=len(items) >= CANDIDATES,
        chosen=chosen,
        rates=[
            (kind, reason.replace("_", " "), decided, round(100 * accepted / decided))
            for (kind, reason), (decided, accepted) in sorted(rates.items())
        ],
        reason_at_most=REASON_AT_MOST,
    )

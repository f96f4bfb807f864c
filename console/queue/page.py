"""The review queue's page, and what can be done there: accept, merge, correct, keep, snooze."""

import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from console.facts.actions import SEES_FACT, read_versions
from console.facts.page import find_done
from console.pages import action_for, choose_tenant, page_for, record, show_page
from console.queue.items import CANDIDATES, list_items, show_sources
from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import automatic, corrections, curation, suggestions, triage
from semantic.curation import REASON_AT_MOST, Act
from semantic.models import Change, Changeset, Fact

SHOWN_AT_MOST = 20
"""Each is shown with the messages behind its facts."""
SNOOZE = timedelta(days=7)
DECISIONS = {
    "accept": "Accepted",
    "decline": "Declined",
    "merge": "Merged",
    "correct": "Corrected",
}
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
    kept = {name: request.POST[name] for name in FILTERS if request.POST.get(name)}
    try:
        if tenant is None or decision not in DECISIONS | SET_ASIDE:
            raise Problem("Accept or decline an entry.")
        entry, actor = request.POST.get("entry", ""), request.user.get_username()
        if decision in DECISIONS:
            done = DECISIONS[decision]
            reason = request.POST.get("reason", "").strip() or f"{done} in the review queue."
            act = Act(tenant, actor, reason)
            kept["done"] = str(decide_on(act, entry, decision, request.POST.get("sentence", "")).id)
        else:
            set_aside(tenant, request.POST, decision, actor=actor)
            messages.success(request, f"{SET_ASIDE[decision]}.")
    except Problem as problem:
        return _render(request, problem=problem.message)
    return redirect(
        f"{reverse('console:review_queue')}?{urlencode({'tenant': tenant.name, **kept})}"
    )


def decide_on(act: Act, key: str, decision: str, sentence: str = "") -> Changeset:
    """Do to the item that a form names what was decided; return the changeset of that.

    Raises:
        Problem: there is no such item, it has changed since it was shown, or what was written is
            too long, or empty.
    """
    kind, _, name = key.partition(":")
    versions, suggestion_id = read_versions(name), read_id(name)
    if decision == "correct" and versions:
        ((fact_id, version),) = list(versions.items())[:1]
        if Fact.objects.of(act.tenant).filter(id=fact_id, fact=" ".join(sentence.split())).exists():
            raise Problem("The fact says just this already.")
        fact = corrections.correct_fact(
            act=act, fact_id=fact_id, sentence=sentence, version=version
        )
        opened: Changeset = fact.changeset
        return opened
    if kind == "pending" and versions and decision != "merge":
        do = curation.approve_facts if decision == "accept" else curation.reject_facts
        return do(act=act, fact_ids=list(versions), versions=versions)[0]
    if kind != "suggestion" or suggestion_id is None or decision == "correct":
        raise Problem("There is no such entry.")
    if decision == "decline":
        decided = suggestions.decline_suggestion(act=act, suggestion_id=suggestion_id)
    else:
        merges = decision == "merge"
        decided = suggestions.accept_suggestion(act=act, suggestion_id=suggestion_id, merges=merges)
    changeset: Changeset = decided.decided_by
    return changeset


@action_for(*SEES_FACT, of_one_tenant=True)
def allow(request: HttpRequest) -> HttpResponse:
    """Let a rule decide by itself so many times a day, or no longer; put it on record."""
    tenant, at_most = choose_tenant(request), request.POST.get("at_most", "")
    kind, _, reason = request.POST.get("rule", "").partition(":")
    try:
        if tenant is None or not (at_most.isascii() and at_most.isdecimal()):
            raise Problem("Say how many suggestions a day.")
        with transaction.atomic():
            automatic.allow_rule(
                tenant, (kind, reason), at_most=int(at_most[:4]), now=timezone.now()
            )
            record(request, tenant, f"let the rule {kind}:{reason} accept {at_most[:4]} a day")
    except Problem as problem:
        return _render(request, problem=problem.message)
    messages.success(request, "Saved.")
    return redirect(reverse("console:review_queue"))


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


def _render(request: HttpRequest, *, problem: str = "") -> HttpResponse:
    tenant = choose_tenant(request)
    chosen = {name: request.GET.get(name, "") for name in FILTERS}
    items, rules, now = [], [], timezone.now()
    if tenant is not None:
        rates = triage.measure_rules(tenant)
        rules = automatic.list_automations(tenant, now=now, rates=rates)
        items = list_items(
            tenant,
            now=now,
            rates=rates,
            about=read_id(chosen["fact"]),
            assignee=request.user.get_username() if chosen["mine"] else "",
            set_aside=bool(chosen["aside"]),
        )
        show_sources(items[:SHOWN_AT_MOST], Reader(request.user))
    done = find_done(request, tenant) if tenant else None
    return show_page(
        request,
        "console/queue/queue.html",
        title="Review queue",
        problem=problem,
        owner=tenant,
        items=items[:SHOWN_AT_MOST],
        total=len(items),
        is_cut=len(items) >= CANDIDATES,
        chosen=chosen,
        rules=rules,
        proven_from=(automatic.DECIDED_AT_LEAST, automatic.PERCENT_AT_LEAST),
        done=done,
        done_fact=_find_fact(done) if done else None,
        reason_at_most=REASON_AT_MOST,
    )


def _find_fact(done: Changeset) -> uuid.UUID | None:
    """Return the fact that a decision was about last: what it was served for is asked again."""
    changes = Change.objects.of(done.tenant).filter(changeset=done, memory_id__isnull=False)
    return changes.order_by("-position").values_list("memory_id", flat=True).first()

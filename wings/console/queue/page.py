"""The review queue: shows items, most important first, and takes decisions."""

import uuid
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import corrections, curation
from semantic.curation import REASON_AT_MOST, Act
from semantic.engines import SuggestionKind
from semantic.models import Change, Changeset, Fact, Suggestion
from wings.console.facts.actions import SEES_FACT, read_versions
from wings.console.facts.page import find_done
from wings.console.pages import Answer, admin_page, record
from wings.console.queue.items import CANDIDATES, CHOICES, list_items, show_sources
from wings.console.texts import TEXTS
from wings.forgetting import facts as forgetting
from wings.suggestions import automatic, suggestions, triage

ERASE = "erasure.erase"
SHOWN_AT_MOST = 20
"""Number of items on the page: each is shown with its facts' messages."""
SNOOZE = timedelta(days=7)
DECISIONS, SET_ASIDE = TEXTS["queue_decisions"], TEXTS["queue_set_aside"]
FILTERS = ("fact", "mine", "aside")
TAKES, ANSWERS = ("accept", "decline"), ("choose", "all", "none", "merge")
PAGE = ("console/queue/queue.html", "Review queue")
DONE = "console/queue/done.html"


class NoteForm(forms.Form):
    """Assignee of an item, and a comment."""

    assignee = forms.CharField(max_length=150, required=False)
    comment = forms.CharField(max_length=500, required=False)


@admin_page(*PAGE, "semantic.view_fact", "semantic.view_suggestion", of_one_tenant=True)
def show_queue(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show a tenant's items to review, most important first.

    `fact`: only items about it; `mine`: the person's own; `aside`: those set aside.
    """
    return _read(request, tenant)


@admin_page(*PAGE, *SEES_FACT, of_one_tenant=True, posts=True)
def decide(request: HttpRequest, tenant: Tenant) -> Answer:
    """Apply a decision about one item, and return to the queue.

    A script gets what takes the place of the card alone.
    """
    is_script = request.headers.get("X-Requested-With") == "fetch"
    decision = request.POST.get("decision", "")
    kept = {name: request.POST[name] for name in FILTERS if request.POST.get(name)}
    done: Changeset | None = None
    try:
        if decision in DECISIONS:
            done = _decide(request, tenant, decision)
            said = "Erased."
        elif decision in SET_ASIDE:
            set_aside(tenant, request.POST, decision, actor=request.user.get_username())
            said = f"{SET_ASIDE[decision]}."
        else:
            raise Problem("Choose what is to be done about an entry.")
    except Problem as problem:
        if is_script:
            return render(request, DONE, {"problem": problem.message}, status=400)
        return _read(request, tenant, problem=problem.message)
    if is_script:
        return render(request, DONE, {"said": said, **_read_done(done)})
    if done is None:
        messages.success(request, said)
    else:
        kept["done"] = str(done.id)
    query = urlencode({"tenant": tenant.name, **kept})
    return redirect(f"{reverse('console:review_queue')}?{query}")


def _decide(request: HttpRequest, tenant: Tenant, decision: str) -> Changeset | None:
    sent = request.POST
    entry, actor = sent.get("entry", ""), request.user.get_username()
    is_erased = entry.startswith(f"{SuggestionKind.ERASE}:") and decision != "decline"
    if is_erased and not request.user.has_perm(ERASE):
        raise Problem("Erasing for good is for superusers. You may restore it.")
    reason = sent.get("reason", "").strip() or f"{DECISIONS[decision]} in the review queue."
    holding = set(filter(None, map(read_id, sent.getlist("holds"))))
    act = Act(tenant, actor, reason)
    return decide_on(act, entry, decision, sent.get("sentence", ""), holding)


def decide_on(
    act: Act, key: str, decision: str, sentence: str = "", holding: Collection[uuid.UUID] = ()
) -> Changeset | None:
    """Apply a decision; return the changeset, or None if a fact was erased.

    `holding`: the facts that were chosen.

    Raises:
        Problem: it is refused.
    """
    kind, _, name = key.partition(":")
    versions, row_id = read_versions(name), read_id(name)
    changeset: Changeset | None
    if decision == "correct" and versions:
        ((fact_id, version),) = list(versions.items())[:1]
        if Fact.objects.of(act.tenant).filter(id=fact_id, fact=" ".join(sentence.split())).exists():
            raise Problem("The fact says just this already.")
        changeset = corrections.correct_fact(
            act=act, fact_id=fact_id, sentence=sentence, version=version
        ).changeset
    elif kind == "pending" and versions and decision in TAKES:
        do = curation.approve_facts if decision == "accept" else curation.reject_facts
        changeset = do(act=act, fact_ids=list(versions), versions=versions)[0]
    elif kind in CHOICES and versions and decision in ANSWERS:
        rows = suggestions.decide_together(
            act=act,
            suggestion_ids=suggestions.find_between(act.tenant, kind, versions),
            holding={"all": set(versions), "none": set()}.get(decision, holding),
            merges=decision == "merge",
            versions=versions,
        )
        changeset = rows[0].decided_by
    elif kind == SuggestionKind.ERASE and row_id and decision in TAKES:
        accepts = decision == "accept"
        do_erase = forgetting.accept_suggestion if accepts else forgetting.decline_suggestion
        changeset = do_erase(act=act, suggestion_id=row_id).decided_by
    else:
        raise Problem("There is no such entry.")
    return changeset


@admin_page(*PAGE, *SEES_FACT, of_one_tenant=True, posts=True)
def allow(request: HttpRequest, tenant: Tenant) -> Answer:
    """Let a rule decide a number of times a day, or no longer; put it on record."""
    at_most = request.POST.get("at_most", "")
    kind, _, reason = request.POST.get("rule", "").partition(":")
    try:
        if not (at_most.isascii() and at_most.isdecimal()):
            raise Problem("Say how many suggestions a day.")
        rule, at_once = (kind, reason), int(at_most[:4])
        with transaction.atomic():
            automatic.allow_rule(tenant, rule, at_most=at_once, now=timezone.now())
            record(request, tenant, f"let the rule {kind}:{reason} accept {at_most[:4]} a day")
    except Problem as problem:
        return _read(request, tenant, problem=problem.message)
    messages.success(request, "Saved.")
    return redirect("console:review_queue")


def set_aside(tenant: Tenant, sent: Any, decision: str, *, actor: str) -> None:
    """Keep, snooze, bring back or comment on a form's fact; raise Problem without one."""
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


def _read(request: HttpRequest, tenant: Tenant, *, problem: str = "") -> dict[str, Any]:
    chosen = {name: request.GET.get(name, "") for name in FILTERS}
    rates, now = triage.measure_rules(tenant), timezone.now()
    items = list_items(
        tenant,
        now=now,
        rates=rates,
        about=read_id(chosen["fact"]),
        assignee=request.user.get_username() if chosen["mine"] else "",
        set_aside=bool(chosen["aside"]),
    )
    show_sources(items[:SHOWN_AT_MOST], Reader(request.user))
    decided = count_decided(tenant, now=now)
    return {
        "problem": problem,
        "owner": tenant,
        "items": items[:SHOWN_AT_MOST],
        "total": len(items),
        "is_cut": suggestions.find_suggestions(tenant).count() > CANDIDATES,
        "decided": (decided[request.user.get_username()], decided.total()),
        "chosen": chosen,
        "rules": automatic.list_automations(tenant, now=now, rates=rates),
        "proven_from": (automatic.DECIDED_AT_LEAST, automatic.PERCENT_AT_LEAST),
        "reason_at_most": REASON_AT_MOST,
        **_read_done(find_done(request, tenant)),
    }


def count_decided(tenant: Tenant, *, now: datetime) -> Counter[str]:
    """Return how many of today's answers (UTC) to suggestions and pending facts hold, by person.

    What else people changed, such as corrections, is not counted.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = Changeset.objects.of(tenant).filter(started_at__gte=midnight)
    undone = today.filter(reverts__isnull=False).values("reverts")
    notes = (curation.APPROVED, curation.REJECTED)
    reviewed = Change.objects.of(tenant).filter(changeset__in=today, note__in=notes)
    suggested = Suggestion.objects.of(tenant).filter(decided_by__in=today)
    answers = Q(id__in=suggested.values("decided_by")) | Q(id__in=reviewed.values("changeset"))
    by_people = today.filter(answers).exclude(actor__startswith=triage.AUTOMATIC)
    return Counter(by_people.exclude(id__in=undone).values_list("actor", flat=True))


def _read_done(done: Changeset | None) -> dict[str, Any]:
    """Return the last decision, and its fact, whose questions can be asked again."""
    if done is None:
        return {"done": None}
    changes = Change.objects.of(done.tenant).filter(changeset=done, memory_id__isnull=False)
    newest = changes.order_by("-position").values_list("memory_id", flat=True).first()
    return {"done": done, "done_fact": newest}

"""The review queue: shows items, most important first, and takes decisions."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from retrieval.models import MemoryTest
from retrieval.receipts import count_served
from semantic import corrections, curation, queries
from semantic.curation import REASON_AT_MOST, Act
from semantic.engines import SuggestionKind
from semantic.models import Change, Changeset, CorrectionMark, Fact, Suggestion, Triage
from wings.console.facts.actions import SEES_FACT, read_versions
from wings.console.facts.changes import render_note
from wings.console.facts.page import find_done, read_sources
from wings.console.labels import name_conversations
from wings.console.pages import Answer, admin_page, record
from wings.console.texts import TEXTS
from wings.forgetting import facts as forgetting
from wings.suggestions import automatic, suggestions, triage

CANDIDATES = 200
"""Number of newest suggestions of each kind that are ranked."""
ERASE = "erasure.erase"
SHOWN_AT_MOST = 20
"""Number of items on the page: each is shown with its facts' messages."""
SNOOZE = timedelta(days=7)
REASONS = TEXTS["queue_reasons"]
DECISIONS, SET_ASIDE = TEXTS["queue_decisions"], TEXTS["queue_set_aside"]
FILTERS = ("fact", "mine", "aside")
PAGE = ("console/queue/queue.html", "Review queue")


@dataclass(slots=True)
class Item:
    """An item to review. `doubt`: probability that something is wrong with it, 0 to 1."""

    kind: str
    """suggestion, pending, dangling, marks or test."""
    title: str
    why: str
    row: Suggestion | Fact | MemoryTest
    about: tuple[Fact, ...]
    """Its facts, the old one first; a test has none."""
    doubt: float = 0.5
    times: int = 0
    conversations: int = 0
    triage: Triage | None = None
    facts: list[tuple[str, Fact, list[Any]]] = field(default_factory=list)
    """Facts to show, each with a label and its sources."""
    place: str = ""
    """Name of its conversation."""

    @property
    def key(self) -> str:
        """Its name in a form; for a fact, with the version that the person has seen."""
        version = f":{self.row.version}" if isinstance(self.row, Fact) else ""
        return f"{self.kind}:{self.row.id}{version}"


def list_items(
    tenant: Tenant,
    *,
    now: datetime,
    rates: triage.Rates,
    about: uuid.UUID | None = None,
    assignee: str = "",
    set_aside: bool = False,
) -> list[Item]:
    """Return the items to review, the most harmful first, ties newest first.

    `rates`: how often rules were right. `about`: only items about one fact. `set_aside`: snoozed
    and kept items instead.
    """
    items = [item for item in _find_items(tenant, rates) if about is None or about in _ids([item])]
    known = triage.read_triage(tenant, _ids(items))
    served = count_served(tenant, _ids(items))
    for item in items:
        item.triage = known.get(item.about[0].id) if item.about else None
        counts = [served.get(fact.id, (0, 0)) for fact in item.about]
        item.times, item.conversations = max(counts, default=(0, 0))
    wanted = [
        item
        for item in items
        if triage.is_set_aside(item.triage, now=now) == set_aside
        and (not assignee or (item.triage and item.triage.assignee == assignee))
    ]
    return sorted(
        wanted, key=lambda item: ((1 + item.times) * item.doubt, item.row.id), reverse=True
    )


def show_sources(items: Sequence[Item], reader: Reader) -> None:
    """Load the messages behind the facts shown, as far as the person may read them."""
    names = name_conversations((item.row.conversation_id for item in items), reader)
    for item in items:
        item.place = names[item.row.conversation_id]
        labels = ("Old", "New") if len(item.about) == 2 else ("Fact",)
        pairs = zip(labels, item.about, strict=False)  # a test is about no fact
        item.facts = [(label, fact, read_sources(fact, reader)) for label, fact in pairs]


def _ids(items: Sequence[Item]) -> set[uuid.UUID]:
    return {fact.id for item in items for fact in item.about}


def _find_items(tenant: Tenant, rates: triage.Rates) -> Iterator[Item]:
    open_ones = suggestions.find_suggestions(tenant).select_related("changeset")
    for row in open_ones.order_by("-id")[:CANDIDATES]:
        decided, accepted = rates.get((row.kind, row.reason), (0, 0))
        about = tuple(filter(None, (row.old_fact, row.new_fact)))
        for fact in about:
            fact.tenant = tenant
        title = f"looks like a {row.kind}" if row.new_fact else "may no longer be true"
        if row.kind == SuggestionKind.ERASE:
            title = "is to be forgotten: erase it for good, or restore it"
        doubt = (accepted + 1) / (decided + 2)
        yield Item("suggestion", title, render_note(row.reason), row, about, doubt)
    proposed = CorrectionMark.objects.of(tenant).filter(state=CorrectionMark.State.PROPOSED)
    marked = Fact.objects.of(tenant).filter(id__in=proposed.values("fact"))
    facts = {
        ("pending", "pending review"): queries.facts_waiting(tenant),
        ("dangling", "says not whom"): triage.find_dangling(tenant),
        ("marks", "corrected, perhaps not everywhere"): marked,
    }
    for (kind, title), rows in facts.items():
        newest = rows.select_related("conversation", "changeset").order_by("-id")
        for fact in newest[:CANDIDATES]:
            yield Item(kind, title, REASONS[kind], fact, (fact,))
    red = MemoryTest.objects.of(tenant).filter(broken_by__isnull=False)
    for test in red.select_related("conversation").order_by("-id")[:CANDIDATES]:
        yield Item("test", "a memory test is red", REASONS["test"], test, (), doubt=1.0)


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
    """Apply a decision about one item, and return to the queue."""
    decision = request.POST.get("decision", "")
    kept = {name: request.POST[name] for name in FILTERS if request.POST.get(name)}
    try:
        if decision not in DECISIONS | SET_ASIDE:
            raise Problem("Accept or decline an entry.")
        entry, actor = request.POST.get("entry", ""), request.user.get_username()
        if decision in DECISIONS:
            done = DECISIONS[decision]
            reason = request.POST.get("reason", "").strip() or f"{done} in the review queue."
            act = Act(tenant, actor, reason)
            check_may_erase(request, tenant, entry, decision)
            changeset = decide_on(act, entry, decision, request.POST.get("sentence", ""))
            if changeset is None:
                messages.success(request, "Erased.")
            else:
                kept["done"] = str(changeset.id)
        else:
            set_aside(tenant, request.POST, decision, actor=actor)
            messages.success(request, f"{SET_ASIDE[decision]}.")
    except Problem as problem:
        return _read(request, tenant, problem=problem.message)
    query = urlencode({"tenant": tenant.name, **kept})
    return redirect(f"{reverse('console:review_queue')}?{query}")


def check_may_erase(request: HttpRequest, tenant: Tenant, key: str, decision: str) -> None:
    """Raise Problem if a decision would erase a fact and the person may not."""
    kind, _, name = key.partition(":")
    row_id = read_id(name) if kind == "suggestion" and decision != "decline" else None
    if row_id and forgetting.find_request(tenant, row_id) and not request.user.has_perm(ERASE):
        raise Problem("Erasing for good is for superusers. You may restore it.")


def decide_on(act: Act, key: str, decision: str, sentence: str = "") -> Changeset | None:
    """Apply a decision; return the changeset, or None if a fact was erased.

    Raises:
        Problem: it is refused.
    """
    kind, _, name = key.partition(":")
    versions, suggestion_id = read_versions(name), read_id(name)
    changeset: Changeset | None
    if decision == "correct" and versions:
        ((fact_id, version),) = list(versions.items())[:1]
        if Fact.objects.of(act.tenant).filter(id=fact_id, fact=" ".join(sentence.split())).exists():
            raise Problem("The fact says just this already.")
        changeset = corrections.correct_fact(
            act=act, fact_id=fact_id, sentence=sentence, version=version
        ).changeset
    elif kind == "pending" and versions and decision != "merge":
        do = curation.approve_facts if decision == "accept" else curation.reject_facts
        changeset = do(act=act, fact_ids=list(versions), versions=versions)[0]
    elif kind != "suggestion" or suggestion_id is None or decision == "correct":
        raise Problem("There is no such entry.")
    elif decision == "decline":
        changeset = forgetting.decline_suggestion(act=act, suggestion_id=suggestion_id).decided_by
    else:
        changeset = forgetting.accept_suggestion(
            act=act, suggestion_id=suggestion_id, merges=decision == "merge"
        ).decided_by
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
    done = find_done(request, tenant)
    return {
        "problem": problem,
        "owner": tenant,
        "items": items[:SHOWN_AT_MOST],
        "total": len(items),
        "is_cut": len(items) >= CANDIDATES,
        "chosen": chosen,
        "rules": automatic.list_automations(tenant, now=now, rates=rates),
        "proven_from": (automatic.DECIDED_AT_LEAST, automatic.PERCENT_AT_LEAST),
        "done": done,
        "done_fact": _find_fact(done) if done else None,
        "reason_at_most": REASON_AT_MOST,
    }


def _find_fact(done: Changeset) -> uuid.UUID | None:
    """Return the fact of the last decision, whose questions can be asked again."""
    changes = Change.objects.of(done.tenant).filter(changeset=done, memory_id__isnull=False)
    return changes.order_by("-position").values_list("memory_id", flat=True).first()

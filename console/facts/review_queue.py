"""The review queue: suggestions and facts pending review, and accepting or declining each."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from console.facts.actions import SEES_FACT
from console.facts.bulk_actions import read_versions
from console.facts.changes import NOTES
from console.facts.page import FactSource, read_sources
from console.home import metrics
from console.pages import action_for, choose_tenant, page_for, show_page
from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import link
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import curation, queries, suggestions
from semantic.curation import REASON_AT_MOST, Act
from semantic.models import Changeset, Fact, Suggestion

SHOWN_AT_MOST = 20
"""Each is shown with the messages behind its facts."""
Entry = tuple[Fact | Suggestion, str, list[tuple[str, Fact, Sequence[FactSource]]]]
"""What is to be decided on, why, and its facts: each under a label, and with its sources."""
DECISIONS = {"accept": "Accepted", "decline": "Declined"}


@page_for("semantic.view_fact", "semantic.view_suggestion", of_one_tenant=True)
def show_queue(request: HttpRequest) -> HttpResponse:
    """Show what is to be decided on in a tenant, newest first; with `fact` what is about it."""
    return _render(request)


@action_for(*SEES_FACT, of_one_tenant=True)
def decide(request: HttpRequest) -> HttpResponse:
    """Accept or decline one entry, and go back to the queue."""
    tenant, decision = choose_tenant(request), request.POST.get("decision", "")
    try:
        if tenant is None or decision not in DECISIONS:
            raise Problem("Accept or decline an entry.")
        done = DECISIONS[decision]
        reason = request.POST.get("reason", "").strip() or f"{done} in the review queue."
        act = Act(tenant, request.user.get_username(), reason)
        changeset = decide_on(act, request.POST.get("entry", ""), accepts=decision == "accept")
    except Problem as problem:
        return _render(request, problem=problem.message, status=400)
    undo = link(changeset, "its changeset")
    messages.success(request, format_html("{}. To undo it, revert {}.", done, undo))
    return redirect(f"{reverse('console:review_queue')}?tenant={quote(tenant.name)}")


def decide_on(act: Act, key: str, *, accepts: bool) -> Changeset:
    """Accept or decline the entry that a form names; return the changeset of that.

    Raises:
        Problem: there is no such entry, it has changed since it was shown, or the reason is long.
    """
    kind, _, name = key.partition(":")
    versions, suggestion_id = read_versions(name), read_id(name)
    if kind == "fact" and versions:
        do = curation.approve_facts if accepts else curation.reject_facts
        return do(act=act, fact_ids=list(versions), versions=versions)[0]
    if kind != "suggestion" or suggestion_id is None:
        raise Problem("There is no such entry.")
    decide = suggestions.accept_suggestion if accepts else suggestions.decline_suggestion
    changeset: Changeset = decide(act=act, suggestion_id=suggestion_id).decided_by
    return changeset


def _render(request: HttpRequest, *, problem: str = "", status: int = 200) -> HttpResponse:
    tenant = choose_tenant(request)
    return show_page(
        request,
        "console/facts/review_queue.html",
        title="Review queue",
        status=status,
        problem=problem,
        owner=tenant,
        entries=find_entries(request, tenant) if tenant else [],
        total=metrics.count_queue(tenant) if tenant else 0,
        at_most=SHOWN_AT_MOST,
        counted_at_most=settings.COUNTED_AT_MOST,
        reason_at_most=REASON_AT_MOST,
        one_fact=read_id(request.GET.get("fact", "")),
    )


def find_entries(request: HttpRequest, tenant: Tenant) -> list[Entry]:
    """Return what is to be decided on, newest first, as far as the person may read it."""
    suggested = suggestions.find_suggestions(tenant).select_related("changeset")
    waiting = queries.facts_waiting(tenant).select_related("conversation", "changeset")
    fact_id = read_id(request.GET.get("fact", ""))
    if fact_id is not None:
        suggested = suggested.filter(Q(old_fact=fact_id) | Q(new_fact=fact_id))
        waiting = waiting.filter(id=fact_id)
    rows: list[Fact | Suggestion] = [
        *suggested.order_by("-id")[:SHOWN_AT_MOST],
        *waiting.order_by("-id")[:SHOWN_AT_MOST],
    ]
    rows.sort(key=lambda row: row.id, reverse=True)
    reader = Reader(request.user)
    return [
        (row, _render_reason(row), _list_facts(row, tenant, reader)) for row in rows[:SHOWN_AT_MOST]
    ]


def _list_facts(
    row: Fact | Suggestion, tenant: Tenant, reader: Reader
) -> list[tuple[str, Fact, Sequence[FactSource]]]:
    if isinstance(row, Fact):
        labelled = [("Fact", row)]
    elif row.new_fact is None:
        labelled = [("Fact", row.old_fact)]
    else:
        labelled = [("Old", row.old_fact), ("New", row.new_fact)]
    for _, fact in labelled:
        fact.tenant = tenant
    return [(label, fact, read_sources(fact, reader)) for label, fact in labelled]


def _render_reason(row: Fact | Suggestion) -> str:
    if isinstance(row, Fact):
        return "it would steer the assistant, or may come from a tool, and not from users alone"
    return NOTES.get(row.reason, row.reason.replace("_", " "))

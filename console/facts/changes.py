"""Changes in words, the page of a changeset, and that of what changed between two moments."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from console.forms import ConversationField, MomentField, submit
from console.highlights import show_difference
from console.jobs.page import find_calls, sum_up
from console.pages import Answer, admin_page
from console.texts import TEXTS
from episodic import queries as episodic_queries
from jobs.models import Job
from memoryproject.adminkit.filters import MOMENT_EXAMPLE
from memoryproject.tenancy.models import Tenant
from semantic import beliefs, reverts, states
from semantic.beliefs import FactDifference
from semantic.models import Change, Changeset, Fact

ACTIVE = "active"
STATE_TONES = {
    ACTIVE: "good", "wrong": "bad", "reverted": "bad", "erased": "bad", "superseded": "warn",
}  # fmt: skip
"""The colour of what was done, by the state after it."""
CHANGES_A_PAGE = 100
SHOWN_AT_MOST = 500
TONES = {"added": "good", "restored": "good", "corrected": "bad", "ended": "warn"}


def render_changes(
    tenant: Tenant, changes: Sequence[Change], *, about: Fact | None = None
) -> list[dict[str, Any]]:
    """Return changes in words, in one query; `about`: as seen from that fact."""
    ids = {one for change in changes for one in (change.memory_id, change.other_memory_id) if one}
    facts = Fact.objects.of(tenant).in_bulk(ids)
    return [_render_change(change, facts, about) for change in changes]


def _render_change(change: Change, facts: Mapping[Any, Fact], about: Fact | None) -> dict[str, Any]:
    """Return what a page says of a change; `old` is the fact that it replaced."""
    fact = facts.get(change.memory_id)
    is_new = change.action == Change.Action.NEW  # what it came from is no fact that it replaced
    old = None if is_new else facts.get(change.other_memory_id)
    before, after = render_states(change, about or fact)
    old_before, old_after = render_states(change, old)
    is_replaced = about is not None and change.other_memory_id == about.id
    sentence = fact.fact if fact else ""
    return {
        "change": change,
        "what": _render_what(change, before, is_replaced=is_replaced),
        "note": render_note(change.note),
        "fact": fact,
        "sentence": show_difference(old.fact, sentence) if fact and old else sentence,
        "old": old,
        "before": before,
        "after": after,
        "old_before": old_before,
        "old_after": old_after,
        "tone": STATE_TONES.get(after, ""),
    }


def _render_what(change: Change, before: str, *, is_replaced: bool) -> str:
    if change.action == Change.Action.UPDATE and not is_replaced:
        return "replaced another"
    if change.action == Change.Action.INVALIDATE and before not in {"", ACTIVE}:
        return "retired for another reason"
    return TEXTS["actions"][change.action]


def render_note(code: str) -> str:
    return TEXTS["change_notes"].get(code, code.replace("_", " "))


def render_states(change: Change, fact: Fact | None) -> tuple[str, str]:
    """Return a fact's state before and after a change; empty where it did not change it."""
    pair = change.states.get(str(fact.id)) if fact else None
    known = map(states.from_json, pair or (None, None))
    before, after = ((state.because or ACTIVE) if state else "" for state in known)
    return before, after


def get_story(request: HttpRequest, changeset: Changeset) -> Mapping[str, Any]:
    sees = request.user.has_perm
    changes = Change.objects.of(changeset.tenant).filter(changeset=changeset)
    pages = Paginator(changes.order_by("position"), CHANGES_A_PAGE)
    page = pages.get_page(request.GET.get("changes"))
    job = None
    if changeset.job_id is not None and sees("jobs.view_job"):
        job = Job.objects.of(changeset.tenant).filter(id=changeset.job_id).first()
    calls = find_calls(job) if job is not None and sees("jobs.view_llmcall") else []
    return {
        "page": page,
        "steps": render_changes(changeset.tenant, list(page.object_list)),
        "job": job,
        "calls": calls,
        "sums": sum_up(calls),
        "reverted_by": reverts.find_revert(changeset),
    }


class ComparisonForm(forms.Form):
    since = MomentField(label="From (UTC)")
    until = MomentField(required=False, label="To (UTC)")
    conversation = ConversationField(required=False, label="Conversation")

    def clean(self) -> None:
        """Take now for the later moment where none is given."""
        params = self.cleaned_data
        params["until"] = params.get("until") or timezone.now()
        if params.get("since") and params["since"] > params["until"]:
            self.add_error("until", "This lies before the other.")


@admin_page(
    "console/facts/comparison.html", "Compare two moments",
    "semantic.view_fact", "semantic.view_changeset", of_one_tenant=True,
)  # fmt: skip
def show_comparison(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show how what was believed at two moments differs, the newest act first."""
    yesterday = f"{timezone.now() - timedelta(days=1):%Y-%m-%d}"
    form = ComparisonForm(
        request.GET if "since" in request.GET else None, initial={"since": yesterday}
    )
    differences = submit(form, lambda: _compare(tenant, **form.cleaned_data))
    return {
        "status": 400 if form.errors else 200,
        "form": form,
        "example": MOMENT_EXAMPLE,
        "differences": differences and list(map(_mark, differences[:SHOWN_AT_MOST])),
        "left_out": max(len(differences or ()) - SHOWN_AT_MOST, 0),
    }


def _compare(tenant: Tenant, *, conversation: Any, **moments: Any) -> list[FactDifference]:
    home = None
    if conversation is not None:
        home = episodic_queries.find_conversation(tenant=tenant, external_id=conversation)
        if home is None:
            return []
    return beliefs.compare(tenant=tenant, conversation=home, **moments)[::-1]


def _mark(row: FactDifference) -> tuple[FactDifference, str, str]:
    """Return a difference with its tone, and how the newer sentence differs, if both are there."""
    change = show_difference(row.fact.fact, row.newer.fact) if row.fact and row.newer else ""
    return row, TONES.get(row.what.value, ""), change

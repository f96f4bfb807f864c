"""Changes in words, the page of a changeset, and the comparison of two moments."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from episodic import queries as episodic_queries
from jobs.models import Job
from memoryproject.adminkit.filters import MOMENT_EXAMPLE
from memoryproject.tenancy.models import Tenant
from semantic import beliefs, reverts, states
from semantic.beliefs import FactDifference
from semantic.models import Change, Changeset, Fact
from wings.console.forms import ConversationField, MomentField, submit
from wings.console.highlights import show_difference
from wings.console.jobs.page import find_calls, sum_up
from wings.console.pages import Answer, admin_page
from wings.console.texts import TEXTS

ACTIVE = "active"
STATE_TONES = {
    ACTIVE: "good", "wrong": "bad", "reverted": "bad", "erased": "bad", "superseded": "warn",
}  # fmt: skip
"""Color of a change, by the state after it."""
CHANGES_A_PAGE = 100
SHOWN_AT_MOST = 500
TONES = {"added": "good", "restored": "good", "corrected": "bad", "ended": "warn"}


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One step of a changeset as a page shows it, from the view of one of its facts.

    `old` is the fact it replaced, `newer` the one that replaced it, `beside` the other fact of a
    step without a replacement; None if there is none, or it was erased. `before` and `after` are
    its states, empty if the step did not change it.
    """

    change: Change
    what: str
    fact: Fact | None
    old: Fact | None
    newer: Fact | None
    beside: Fact | None
    before: str
    after: str

    @property
    def changeset(self) -> Changeset:
        """The changeset of the step."""
        changeset: Changeset = self.change.changeset
        return changeset

    @property
    def note(self) -> str:
        """Reason in words; empty if the step has no note."""
        return render_note(self.change.note)

    @property
    def tone(self) -> str:
        """Color of the change."""
        return STATE_TONES.get(self.after, "")

    @property
    def sentence(self) -> SafeString | str:
        """Text of the fact; differences from the fact it replaced are marked."""
        return _show_newer(self.old, self.fact)

    @property
    def difference(self) -> SafeString | str:
        """Text of its replacement, with the difference marked."""
        return _show_newer(self.fact, self.newer)


def _show_newer(old: Fact | None, newer: Fact | None) -> SafeString | str:
    if newer is None:
        return ""
    return show_difference(old.fact, newer.fact) if old else newer.fact


def render_changes(
    tenant: Tenant, changes: Sequence[Change], *, about: Fact | None = None
) -> list[ShownChange]:
    """Return changes in words, by one query; `about`: from the view of that fact."""
    facts = read_facts(tenant, changes)
    return [render_change(change, facts, about=about.id if about else None) for change in changes]


def read_facts(
    tenant: Tenant, changes: Iterable[Change], ids: Iterable[uuid.UUID] = ()
) -> dict[uuid.UUID, Fact]:
    """Return, by id, the facts in changes, their replacements, and those in `ids`."""
    named: set[uuid.UUID | None] = set(ids)
    for change in changes:
        ends = (_read_pair(change, uuid.UUID(name))[1] for name in change.states)
        named |= {change.memory_id, change.other_memory_id}
        named |= {after.superseded_by for after in ends if after}
    return Fact.objects.of(tenant).in_bulk(named - {None})


def _read_pair(
    change: Change, fact_id: uuid.UUID | None
) -> tuple[states.State | None, states.State | None]:
    """Return a fact's state before and after a change; both None if it did not change."""
    before, after = change.states.get(str(fact_id), (None, None))
    return states.from_json(before), states.from_json(after)


def render_change(
    change: Change, facts: Mapping[uuid.UUID, Fact], *, about: uuid.UUID | None = None
) -> ShownChange:
    """Return a change in words, from the view of its first fact or of `about`.

    The states show which fact replaced which: the order of a step's two facts differs between
    actions.
    """
    seen, other = about or change.memory_id, change.other_memory_id
    other = change.memory_id if other == seen else other
    before, after = _read_pair(change, seen)
    heir = after.superseded_by if after else None
    of_other = _read_pair(change, other)[1]
    replaces = of_other is not None and of_other.superseded_by == seen
    is_beside = not replaces and other != heir and change.action != Change.Action.NEW
    return ShownChange(
        change,
        _render_what(change, before, after, replaces=replaces),
        facts.get(seen) if seen else None,
        old=facts.get(other) if replaces and other else None,
        newer=facts.get(heir) if heir else None,
        beside=facts.get(other) if is_beside and other else None,
        before=_name_state(before),
        after=_name_state(after),
    )


def _name_state(state: states.State | None) -> str:
    return (state.because or ACTIVE) if state else ""


def _render_what(
    change: Change, before: states.State | None, after: states.State | None, *, replaces: bool
) -> str:
    words = TEXTS["actions"]
    if replaces:
        return words["replaces"]
    if after is None:
        is_about_others = change.action in {Change.Action.UPDATE, Change.Action.INVALIDATE}
        return words["others" if is_about_others else change.action]
    if before is not None and before.because == Fact.Because.WAITING and not after.superseded_by:
        return words["approved" if after.is_active else "rejected"]
    if after.is_active or change.action == Change.Action.NEW:
        return words[change.action]
    if before is not None and not before.is_active:
        return words["again"]
    parts = [words.get(after.because, ""), words["update"] if after.superseded_by else ""]
    return ", ".join(filter(None, parts)) or words["invalidate"]


def render_note(code: str) -> str:
    return TEXTS["change_notes"].get(code, code.replace("_", " "))


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
        """Use now as the later moment if none is given."""
        params = self.cleaned_data
        params["until"] = params.get("until") or timezone.now()
        if params.get("since") and params["since"] > params["until"]:
            self.add_error("until", "This lies before the other.")


@admin_page(
    "console/facts/comparison.html", "Compare two moments",
    "semantic.view_fact", "semantic.view_changeset", of_one_tenant=True,
)  # fmt: skip
def show_comparison(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show how beliefs at two moments differ, the newest change first."""
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
    """Return a difference with its color, and the marked text if there are two sentences."""
    change = show_difference(row.fact.fact, row.newer.fact) if row.fact and row.newer else ""
    return row, TONES.get(row.what.value, ""), change

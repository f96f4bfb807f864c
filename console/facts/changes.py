"""Changes in words, with the states before and after, and the page of a changeset."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.safestring import SafeString

from console.facts.forms import CURATE
from console.highlights import show_difference
from console.jobs.page import find_calls, sum_up
from console.texts import TEXTS
from jobs.models import Job
from memoryproject.tenancy.models import Tenant
from semantic import reverts, states
from semantic.models import Change, Changeset, Fact

ACTIVE = "active"
CHANGES_A_PAGE = 100


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change. `sentence` marks what it changed in the fact that it replaced."""

    change: Change
    what: str
    note: str
    fact: Fact | None
    """None: the change is about no fact, or about one that was erased."""
    sentence: SafeString | str
    old: Fact | None
    """What it replaced."""
    before: str
    after: str
    old_before: str
    old_after: str

    @property
    def tone(self) -> str:
        """good, bad, warn or nothing: the colour of what was done."""
        if self.after == ACTIVE:
            return "good"
        return {"wrong": "bad", "reverted": "bad", "erased": "bad", "superseded": "warn"}.get(
            self.after, ""
        )


def render_changes(
    tenant: Tenant, changes: Sequence[Change], *, about: Fact | None = None
) -> list[ChangeLine]:
    """Return changes in words, in one query; `about`: as seen from that fact."""
    ids = {one for change in changes for one in (change.memory_id, change.other_memory_id) if one}
    facts = Fact.objects.of(tenant).in_bulk(ids)
    return [_to_line(change, facts, about) for change in changes]


def _to_line(change: Change, facts: dict[uuid.UUID, Fact], about: Fact | None) -> ChangeLine:
    fact = facts.get(change.memory_id) if change.memory_id else None
    is_new = change.action == Change.Action.NEW  # what it came from is no fact that it replaced
    old = facts.get(change.other_memory_id) if change.other_memory_id and not is_new else None
    shown = about or fact
    before, after = render_states(change, shown.id if shown else None)
    old_before, old_after = render_states(change, old.id if old else None)
    is_replaced = about is not None and change.other_memory_id == about.id
    return ChangeLine(
        change=change,
        what=_render_what(change, before, is_replaced=is_replaced),
        note=render_note(change.note),
        fact=fact,
        sentence=_render_sentence(fact, old),
        old=old,
        before=before,
        after=after,
        old_before=old_before,
        old_after=old_after,
    )


def _render_what(change: Change, before: str, *, is_replaced: bool) -> str:
    if change.action == Change.Action.UPDATE and not is_replaced:
        return "replaced another"
    if change.action == Change.Action.INVALIDATE and before not in {"", ACTIVE}:
        return "retired for another reason"
    return TEXTS["actions"][change.action]


def _render_sentence(fact: Fact | None, old: Fact | None) -> SafeString | str:
    if fact is None:
        return ""
    return show_difference(old.fact, fact.fact) if old else fact.fact


def render_note(code: str) -> str:
    """Return what the code of a change says."""
    return TEXTS["change_notes"].get(code, code.replace("_", " "))


def render_states(change: Change, fact_id: uuid.UUID | None) -> tuple[str, str]:
    """Return a fact's state before and after a change; empty where it did not change it."""
    pair = change.states.get(str(fact_id))
    if pair is None:
        return "", ""
    before, after = (states.from_json(one) for one in pair)
    return _render_state(before), _render_state(after)


def _render_state(state: states.State | None) -> str:
    return "" if state is None else state.because or ACTIVE


def get_story(request: HttpRequest, changeset: Changeset) -> Mapping[str, Any]:
    """Return what stands above a changeset's columns."""
    sees = request.user.has_perm
    changes = Change.objects.of(changeset.tenant).filter(changeset=changeset)
    pages = Paginator(changes.order_by("position"), CHANGES_A_PAGE)
    page = pages.get_page(request.GET.get("changes"))
    job = None
    if changeset.job_id is not None and sees("jobs.view_job"):
        job = Job.objects.of(changeset.tenant).filter(id=changeset.job_id).first()
    calls = find_calls(job) if job is not None and sees("jobs.view_llmcall") else []
    reverted_by = reverts.find_revert(changeset)
    is_import = changeset.kind == Changeset.Kind.IMPORT and changeset.conversation_id is None
    return {
        "page": page,
        "steps": render_changes(changeset.tenant, list(page.object_list)),
        "job": job,
        "calls": calls,
        "sums": sum_up(calls),
        "reverted_by": reverted_by,
        "may_revert": sees(CURATE) and reverted_by is None and changeset.conversation_id,
        "may_erase": sees("erasure.erase") and is_import,
    }

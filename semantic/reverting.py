"""Undoing a changeset by another one: each fact goes back to how the changeset found it.

What was changed again since then is in the way: it is named, and either the whole
revert is refused or that part is left as it is. A fact that later evidence supports is
held on, without the evidence that the changeset brought.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from episodic import queries as episodic_queries
from memoryproject.errors import Conflict, NotFound
from memoryproject.tenancy.models import Tenant
from semantic import queries, states
from semantic.curation import Act, open_ledger
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.services import Ledger, put_state

REVERTED = "reverted"
"""Note of the steps of a revert."""
UNSUPPORTED = "unsupported"
"""Note of closing a fact that a revert leaves without any evidence."""


class Verdict(Enum):
    """What a revert does about one fact."""

    CLOSE = "close"
    """It was opened, or held again, by the changeset."""
    REOPEN = "reopen"
    KEEP = "supported"
    """Others support it, too: only the changeset's evidence goes."""
    CHANGED = "changed_later"
    """Something has changed it since: in the way."""
    HELD_ANEW = "held_anew"
    """The same sentence is held as another fact by now: in the way."""

    @property
    def is_conflict(self) -> bool:
        """Whether the fact is in the way of a revert."""
        return self in {Verdict.CHANGED, Verdict.HELD_ANEW}


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one fact. `later` are the changesets that are in the way, oldest first."""

    fact: Fact
    verdict: Verdict
    before: states.State | None
    """As the changeset found it; None: it was not there."""
    later: tuple[Changeset, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a revert would do, the last change first."""

    changeset: Changeset
    steps: tuple[Step, ...]
    reverted_by: Changeset | None

    @property
    def conflicts(self) -> tuple[Step, ...]:
        """The facts that are in the way."""
        return tuple(step for step in self.steps if step.verdict.is_conflict)


def plan_revert(*, tenant: Tenant, changeset_id: uuid.UUID) -> Plan:
    """Return what reverting a changeset would do now. Nothing is written.

    Raises:
        NotFound: the tenant has no such changeset.
    """
    changeset = Changeset.objects.of(tenant).filter(id=changeset_id).first()
    if changeset is None:
        raise NotFound("There is no such changeset.")
    return _make_plan(changeset)


def revert_changeset(
    *, act: Act, changeset_id: uuid.UUID, leave_conflicts: bool = False
) -> Changeset:
    """Undo a changeset; return the new one that does it.

    With `leave_conflicts` what is in the way is left as it is, and noted.

    Raises:
        NotFound: the tenant has no such changeset.
        Conflict: it is reverted already, or something is in the way.
        Problem: no reason.
    """
    with transaction.atomic():
        found = plan_revert(tenant=act.tenant, changeset_id=changeset_id).changeset
        if found.conversation_id is None:
            raise Conflict("This changeset belongs to no conversation.")
        conversation = episodic_queries.lock_conversation(
            tenant=act.tenant, conversation_id=found.conversation_id
        )
        plan = _make_plan(found)  # anew: nobody can change facts of the conversation now
        if plan.reverted_by is not None:
            raise Conflict(f"Changeset {plan.reverted_by.id} has reverted it already.")
        if plan.conflicts and not leave_conflicts:
            ids = ", ".join(str(step.fact.id) for step in plan.conflicts)
            raise Conflict(f"Changed since then: {ids}.")
        ledger = open_ledger(act, conversation, kind=Changeset.Kind.REVERT, reverts=found)
        _write(plan, ledger)
        ledger.close()
    return ledger.changeset


def find_revert(changeset: Changeset) -> Changeset | None:
    """Return the changeset that has undone this one and is not undone itself, or None."""
    reverts = Changeset.objects.of(changeset.tenant).filter(reverts=changeset)
    return next((one for one in reverts.order_by("id") if find_revert(one) is None), None)


def _make_plan(changeset: Changeset) -> Plan:
    first: dict[uuid.UUID, states.Json] = {}
    last: dict[uuid.UUID, states.Json] = {}
    for change in Change.objects.of(changeset.tenant).filter(changeset=changeset).order_by("position"):
        for fact_id, (before, after) in change.states.items():
            first.setdefault(uuid.UUID(fact_id), before)
            last[uuid.UUID(fact_id)] = after
    found = queries.facts_by_id(tenant=changeset.tenant, fact_ids=first)
    facts = {fact.id: fact for fact in found.select_related("conversation")}
    steps = [
        _plan_step(changeset, facts[fact_id], first[fact_id], last[fact_id])
        for fact_id in reversed(first)
        if fact_id in facts
    ]
    return Plan(
        changeset=changeset,
        steps=tuple(step for step in steps if step is not None),
        reverted_by=find_revert(changeset),
    )


def _plan_step(
    changeset: Changeset, fact: Fact, first: states.Json, last: states.Json
) -> Step | None:
    before, after = states.from_json(first), states.from_json(last)
    was_held = before is not None and before.is_active
    now = states.read_state(fact)
    if after is None or not now.is_like(after):
        return Step(fact, Verdict.CHANGED, before, tuple(_later_changes(changeset, fact)))
    if now.is_active == was_held:
        return None
    if now.is_active:
        keeps = before is None and _is_supported_by_others(fact, changeset)
        return Step(fact, Verdict.KEEP if keeps else Verdict.CLOSE, before)
    held = queries.find_active(conversation=fact.conversation, fact=fact.fact)
    return Step(fact, Verdict.REOPEN if held is None else Verdict.HELD_ANEW, before)


def _later_changes(changeset: Changeset, fact: Fact) -> Iterator[Changeset]:
    """Yield the changesets that have changed a fact since, without those that are undone."""
    touching = Q(memory_id=fact.id) | Q(other_memory_id=fact.id)
    later = Change.objects.of(fact.tenant).filter(
        touching, states__has_key=str(fact.id), changeset__id__gt=changeset.id
    )
    changesets = Changeset.objects.of(fact.tenant).filter(id__in=later.values("changeset"))
    for one in changesets.order_by("id"):
        if one.reverts_id != changeset.id and find_revert(one) is None:
            yield one


def _is_supported_by_others(fact: Fact, changeset: Changeset) -> bool:
    counting = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    return counting.exclude(changeset=changeset).exists()


def _write(plan: Plan, ledger: Ledger) -> None:
    for step in plan.steps:
        _write_step(step, ledger)
    # A fact that is closed keeps its evidence: it explains what was believed.
    settled = [step.fact.id for step in plan.steps if step.verdict is not Verdict.KEEP]
    _withdraw_evidence(plan.changeset, ledger, settled=settled)
    _return_evidence(plan.changeset, ledger)


def _write_step(step: Step, ledger: Ledger) -> None:
    fact, verdict = step.fact, step.verdict
    if verdict.is_conflict or verdict is Verdict.KEEP:
        ledger.note(Change.Action.SKIP, memory_id=fact.id, note=verdict.value)
        return
    pair = put_state(fact, step.before or _never(fact), ledger=ledger)
    action = Change.Action.RESTORE if verdict is Verdict.REOPEN else Change.Action.INVALIDATE
    ledger.note(action, memory_id=fact.id, note=REVERTED, states={fact.id: pair})


def _never(fact: Fact) -> states.State:
    """Return the state of what should not have been believed."""
    return states.State(because=Fact.Because.WRONG, valid_until=fact.valid_at)


def _withdraw_evidence(
    changeset: Changeset, ledger: Ledger, *, settled: Sequence[uuid.UUID]
) -> None:
    """Take back what a changeset brought to facts that are held on; what has none left closes."""
    brought = Evidence.objects.of(changeset.tenant).filter(changeset=changeset, withdrawn_by=None)
    rows = brought.exclude(fact__in=settled)
    poorer = sorted(set(rows.values_list("fact_id", flat=True)))
    rows.update(withdrawn_by=ledger.changeset)
    facts = queries.active_facts(tenant=changeset.tenant, fact_ids=poorer)
    for fact_id in poorer:
        ledger.note(Change.Action.WITHDRAW, memory_id=fact_id, note=REVERTED)
        fact = facts.get(fact_id)
        if fact is not None and not _is_supported_by_others(fact, changeset):
            pair = put_state(fact, _never(fact), ledger=ledger)
            ledger.note(
                Change.Action.INVALIDATE, memory_id=fact_id, note=UNSUPPORTED, states={fact_id: pair}
            )


def _return_evidence(changeset: Changeset, ledger: Ledger) -> None:
    """Let count again what a changeset took back, unless its episode supports the fact anew."""
    evidence = Evidence.objects.of(changeset.tenant)
    counting = evidence.filter(
        fact=OuterRef("fact"), episode=OuterRef("episode"), withdrawn_by=None
    )
    rows = evidence.filter(~Exists(counting), withdrawn_by=changeset)
    richer = sorted(set(rows.values_list("fact_id", flat=True)))
    rows.update(withdrawn_by=None)
    for fact_id in richer:
        ledger.note(Change.Action.RETURN, memory_id=fact_id, note=REVERTED)

"""Plans and writes reverts: each fact becomes what it would be without the changeset.

A fact changed again since then is a conflict: it is named, and either the whole revert is refused
or that fact is left as it is. A fact with other evidence from its own conversation is kept, without
the evidence that the changeset added.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from memoryproject.edge.errors import Conflict, get_row
from memoryproject.tenancy.models import Tenant
from semantic import effects, states
from semantic.copies import place_copies
from semantic.curation import Act, open_ledger
from semantic.effects import Past, Reverts
from semantic.erasing import ERASED
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.redrawing import find_elsewhere, redraw
from semantic.services import Ledger, put_states
from semantic.suggesting import follow_revert
from semantic.user_facts import lock_home

REVERTED = "reverted"
"""Note of the steps of a revert."""
UNSUPPORTED = "unsupported"
"""Note of the step that closes a fact because a revert leaves it without evidence."""


class Verdict(Enum):
    """What a revert does about one fact."""

    CLOSE = "close"
    """It is active because of the changeset."""
    REOPEN = "reopen"
    """It is retired because of the changeset."""
    KEEP = "supported"
    """It is active on other evidence, too: only the changeset's is withdrawn."""
    SUPPORT = "supported_again"
    """It is active; the changeset's evidence becomes valid again."""
    STAY_CLOSED = "stays_closed"
    """The step that closed it is undone, but so was the step that opened it."""
    CHANGED = "changed_later"
    """A conflict: it has been changed since."""
    HELD_ANEW = "held_anew"
    """A conflict: the same sentence is active as another fact."""

    @property
    def is_conflict(self) -> bool:
        """Whether the fact blocks the revert."""
        return self in {Verdict.CHANGED, Verdict.HELD_ANEW}


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome for one fact: its new state, and the note of the step.

    `later` are the changesets that block the revert, oldest first.
    """

    fact: Fact
    verdict: Verdict
    state: states.State
    later: tuple[Changeset, ...] = ()
    note: str = REVERTED

    @property
    def later_ids(self) -> list[uuid.UUID]:
        """Ids of the changesets that block the revert."""
        return [changeset.id for changeset in self.later]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a revert would do, the last change first; `erased`: facts that are gone.

    `undone` are the changesets that will be out of effect afterwards.
    """

    changeset: Changeset
    steps: tuple[Step, ...]
    reverted_by: Changeset | None
    undone: frozenset[uuid.UUID]
    erased: tuple[uuid.UUID, ...]

    @property
    def conflicts(self) -> tuple[Step, ...]:
        """The steps that block the revert."""
        return tuple(step for step in self.steps if step.verdict.is_conflict)

    @property
    def conflict_count(self) -> int:
        """Number of facts that block the revert."""
        return len(self.conflicts)


def plan_revert(*, tenant: Tenant, changeset_id: uuid.UUID) -> Plan:
    """Return what reverting a changeset would do now, or raise NotFound. Nothing is written."""
    return _make_plan(_get_changeset(tenant, changeset_id))


def revert_changeset(
    *, act: Act, changeset_id: uuid.UUID, leave_conflicts: bool = False
) -> Changeset:
    """Undo a changeset; return the new one that does it.

    With `leave_conflicts`, facts in conflict are left as they are, with a note.

    Raises:
        NotFound: the tenant has no such changeset.
        Conflict: it is reverted already, or facts are in conflict.
        Problem: no reason.
    """
    with transaction.atomic():
        changeset = _get_changeset(act.tenant, changeset_id)
        if changeset.conversation_id is None:
            raise Conflict("This import is undone by erasing it: scope import, id the changeset.")
        if changeset.kind == Changeset.Kind.ERASURE:
            raise Conflict("An erasure cannot be undone.")
        conversation = lock_home(act.tenant, changeset.conversation_id)
        plan = _make_plan(changeset)  # under the lock: nobody else changes its facts now
        if plan.reverted_by is not None:
            raise Conflict(f"Changeset {plan.reverted_by.id} has reverted it already.")
        if plan.conflicts and not leave_conflicts:
            ids = ", ".join(str(step.fact.id) for step in plan.conflicts)
            raise Conflict(f"Changed since then: {ids}.")
        if plan.erased and not plan.steps:
            raise Conflict("All that this changeset did was erased: there is nothing to undo.")
        ledger = open_ledger(act, conversation, kind=Changeset.Kind.REVERT, reverts=changeset)
        _write(plan, ledger)
        ledger.close()
    return ledger.changeset


def find_revert(changeset: Changeset) -> Changeset | None:
    """Return the changeset in effect that undid this one, or None."""
    return Reverts(changeset).find_revert()


def _get_changeset(tenant: Tenant, changeset_id: uuid.UUID) -> Changeset:
    rows = Changeset.objects.of(tenant).select_related("conversation")
    return get_row(rows, "changeset", id=changeset_id)


def _make_plan(changeset: Changeset) -> Plan:
    tenant = changeset.tenant
    reverts = Reverts(changeset)
    touched = effects.facts_touched(tenant=tenant, changeset_ids={changeset.id, reverts.root})
    pasts = effects.read_pasts(reverts.facts, tenant=tenant, fact_ids=touched)
    planned = (_plan_step(pasts[fact_id], reverts) for fact_id in touched[::-1] if fact_id in pasts)
    return Plan(
        changeset=changeset,
        steps=_find_held_anew(changeset, [step for step in planned if step is not None]),
        reverted_by=reverts.find_revert(),
        undone=reverts.after,
        erased=tuple(fact_id for fact_id in touched if fact_id not in pasts),
    )


def _plan_step(past: Past, reverts: Reverts) -> Step | None:
    """Return the outcome for a fact, None if it does not change. HELD_ANEW is not checked here."""
    fact, current = past.fact, states.read_state(past.fact)
    planned, expected = past.state_without(reverts.after), past.state_without(reverts.now)
    is_undone = reverts.root in reverts.after
    is_touched = any(effect.changeset.id == reverts.root for effect in past.effects)
    later = past.changed_after(reverts.root, undone=reverts.now) if is_touched else ()
    if later and (is_undone or not planned.is_like(expected)):
        return Step(fact, Verdict.CHANGED, current, later)
    if planned.is_like(current):
        supports = current.is_active and reverts.root in past.supporters | past.elsewhere
        verdict = Verdict.KEEP if is_undone else Verdict.SUPPORT
        return Step(fact, verdict, current) if supports and reverts.now != reverts.after else None
    if planned.is_active != current.is_active and not current.is_like(expected):
        return Step(fact, Verdict.CHANGED, current)  # erased, or changed by what left no trace
    if planned.is_active:
        return Step(fact, Verdict.REOPEN, planned)
    verdict = Verdict.CLOSE if current.is_active else Verdict.STAY_CLOSED
    return Step(fact, verdict, planned, note=REVERTED if is_touched else UNSUPPORTED)


def _find_held_anew(changeset: Changeset, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Mark facts that cannot be restored, since another fact with the sentence stays active."""
    closing = {step.fact.id for step in steps if step.verdict is Verdict.CLOSE}
    reopened = [step.fact for step in steps if step.verdict is Verdict.REOPEN]
    active = Fact.objects.of(changeset.tenant).filter(
        conversation__in={fact.conversation_id for fact in reopened},
        content_hash__in=[fact.content_hash for fact in reopened],
        invalid_at=None,
    )
    rows = active.exclude(id__in=closing)
    active_keys = set(rows.values_list("conversation_id", "content_hash"))
    checked = []
    for step in steps:
        if step.verdict is Verdict.REOPEN:
            key = (step.fact.conversation_id, step.fact.content_hash)
            if key in active_keys:
                current = states.read_state(step.fact)
                step = replace(step, verdict=Verdict.HELD_ANEW, state=current)
            active_keys.add(key)
        checked.append(step)
    return tuple(checked)


def _write(plan: Plan, ledger: Ledger) -> None:
    free = [step for step in plan.steps if not step.verdict.is_conflict]
    moved = [step for step in free if not step.state.is_like(states.read_state(step.fact))]
    # Closing comes first, since a sentence is active only once.
    for opens in (False, True):
        _put_all([step for step in moved if step.state.is_active == opens], ledger)
    for step in plan.conflicts:
        ledger.note(Change.Action.SKIP, memory_id=step.fact.id, note=step.verdict.value)
    for fact_id in plan.erased:
        ledger.note(Change.Action.SKIP, memory_id=fact_id, note=ERASED)
    facts = [step.fact for step in free]
    rows = Evidence.objects.of(plan.changeset.tenant).filter(fact__in=facts)
    _withdraw_or_return(rows, plan.undone, ledger)
    follow_revert(plan.changeset, undone=plan.undone)
    if ledger.conversation.user_id:
        place_copies(plan.changeset.tenant, [fact.id for fact in facts])
        closed = [step.fact.id for step in free if step.verdict is Verdict.CLOSE]
        redraw(plan.changeset.tenant, find_elsewhere(plan.changeset.tenant, closed))


def _put_all(steps: Sequence[Step], ledger: Ledger) -> None:
    changed = put_states({step.fact: step.state for step in steps}, ledger=ledger)
    for step in steps:
        fact_id = step.fact.id
        action = Change.Action.RESTORE if step.state.is_active else Change.Action.INVALIDATE
        ledger.note(action, memory_id=fact_id, note=step.note, states={fact_id: changed[fact_id]})


def _withdraw_or_return(
    rows: QuerySet[Evidence], undone: frozenset[uuid.UUID], ledger: Ledger
) -> None:
    """Withdraw the evidence of undone changesets from active facts; return other evidence.

    A retired fact keeps its evidence, which explains what was believed. Evidence of a changeset in
    effect again stays withdrawn if its episode supports the fact by a newer row.
    """
    counting = Evidence.objects.of(ledger.changeset.tenant).filter(withdrawn_by=None)
    going = rows.filter(changeset__in=undone, withdrawn_by=None, fact__invalid_at=None)
    _set_withdrawn(going, ledger, is_withdrawn=True)
    same = counting.filter(fact=OuterRef("fact"), episode=OuterRef("episode"))
    returning = rows.filter(~Exists(same), withdrawn_by__isnull=False).exclude(changeset__in=undone)
    one_each = returning.order_by("fact_id", "episode_id", "id").distinct("fact_id", "episode_id")
    _set_withdrawn(one_each, ledger, is_withdrawn=False)


def _set_withdrawn(evidence: QuerySet[Evidence], ledger: Ledger, *, is_withdrawn: bool) -> None:
    action = Change.Action.WITHDRAW if is_withdrawn else Change.Action.RETURN
    fact_ids = dict(evidence.values_list("id", "fact_id"))
    Evidence.objects.of(ledger.changeset.tenant).filter(id__in=fact_ids).update(
        withdrawn_by=ledger.changeset if is_withdrawn else None
    )
    for fact_id in sorted(set(fact_ids.values())):
        ledger.note(action, memory_id=fact_id, note=REVERTED)

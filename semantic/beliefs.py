"""What the server believed at one moment, and how two moments differ.

A fact's row has its present state; each change, with who made it and why, is a step of a changeset,
and steps are never altered. So any past state can be read back exactly.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, Func, Q, QuerySet, UUIDField, Value

from episodic.models import Conversation
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import queries, states
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.user_facts import list_all_beside, list_ids_beside

STEPS_AT_MOST = 20_000
"""Largest number of steps between two moments that are compared."""


def facts_believed_at(
    *,
    tenant: Tenant,
    known_at: datetime,
    as_of: datetime | None = None,
    homes: Sequence[uuid.UUID] | None = None,
) -> list[uuid.UUID]:
    """Return the facts that were active at `known_at`, of some conversations or of all.

    A conversation has its own facts, and those of its user's other conversations for which it had
    evidence. With `as_of`: the facts that the server at `known_at` believed to be true at that
    other moment, including ones that were over by then.
    """
    params = {
        "tenant": tenant.id,
        "homes": None if homes is None else list(homes),
        "beside": None if homes is None else list_all_beside(tenant, homes),
        "also": [] if homes is None else _facts_with_evidence_in(tenant, homes, known_at),
        "known_at": known_at,
        "as_of": as_of,
    }
    return queries.fetch_ids("believed_at.sql", params)


def _facts_with_evidence_in(
    tenant: Tenant, homes: Sequence[uuid.UUID], known_at: datetime
) -> list[uuid.UUID]:
    """Return other conversations' facts for which these had evidence at a moment."""
    counted = Q(withdrawn_by=None) | Q(withdrawn_by__started_at__gt=known_at)
    rows = Evidence.objects.of(tenant).filter(counted, conversation__in=homes)
    return list(rows.filter(created_at__lte=known_at).values_list("fact_id", flat=True).distinct())


class IsOneOf(Func):
    """The condition that a column is one of many ids, which are one parameter, or of an array."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()

    def __init__(self, name: str, ids: Iterable[uuid.UUID] | F) -> None:
        many = ArrayField(UUIDField())
        array = ids if isinstance(ids, F) else Value(list(ids), output_field=many)
        super().__init__(F(name), array)


LAST = uuid.UUID(int=2**128 - 1)


def read_steps_of(tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, list[Change]]:
    """Return the steps that name each fact, oldest first, with their changesets, in one query."""
    ids = set(fact_ids)
    naming = Q(memory_id__in=ids) | Q(other_memory_id__in=ids)
    rows = Change.objects.of(tenant).filter(naming).select_related("changeset")
    steps: dict[uuid.UUID, list[Change]] = defaultdict(list)
    for step in rows.order_by("changeset__started_at", "changeset_id", "position"):
        for fact_id in ids & {step.memory_id, step.other_memory_id}:
            steps[fact_id].append(step)
    return steps


def find_state_at(
    fact: Fact, steps: Iterable[Change], known_at: datetime, *, act_id: uuid.UUID = LAST
) -> states.State:
    """Return the state that a fact was in at a moment, from its steps, oldest first.

    That is the state before the first later step, or the row's own if there is none. Acts at
    exactly that moment count as earlier up to `act_id`.
    """
    for step in steps:
        is_later = (step.changeset.started_at, step.changeset_id) > (known_at, act_id)
        if is_later and str(fact.id) in step.states:
            return states.from_json(step.states[str(fact.id)][0]) or states.State()
    return states.read_state(fact)


def read_states(
    tenant: Tenant, facts: Iterable[Fact], known_at: datetime | None
) -> dict[uuid.UUID, states.State]:
    """Return the states that facts had at a moment; None: now."""
    if known_at is None:
        return {fact.id: states.read_state(fact) for fact in facts}
    rows = {fact.id: fact for fact in facts}
    steps = read_steps_of(tenant, rows)
    return {fact_id: find_state_at(rows[fact_id], steps[fact_id], known_at) for fact_id in rows}


class Difference(StrEnum):
    """How a fact changed between two moments."""

    ADDED = "added"
    RESTORED = "restored"
    CORRECTED = "corrected"
    REPLACED = "replaced"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact active at only one of two moments, and the last step that made it so.

    `newer`: the fact that replaced it. `fact` is None if it was erased since.
    """

    what: Difference
    fact_id: uuid.UUID
    fact: Fact | None
    newer_id: uuid.UUID | None
    newer: Fact | None
    because: str
    """Why it is not active at the later moment; empty if it is."""
    changeset: Changeset


def compare(
    tenant: Tenant, since: datetime, until: datetime, *, conversation: Conversation | None = None
) -> list[FactDifference]:
    """Return the differences between beliefs at `since` and at `until`, oldest step first.

    A fact that came and went in between is left out; one that replaced another is listed together
    with that one.

    Raises:
        Problem: more than 20,000 steps lie between.
    """
    first: dict[uuid.UUID, states.State | None] = {}
    last: dict[uuid.UUID, tuple[states.State | None, Changeset]] = {}
    for step in _read_steps(tenant, since, until, conversation):
        for name, (before, after) in step.states.items():
            fact_id = uuid.UUID(name)
            first.setdefault(fact_id, states.from_json(before))
            last.pop(fact_id, None)
            last[fact_id] = (states.from_json(after), step.changeset)
    facts = Fact.objects.of(tenant).select_related("conversation").in_bulk(list(last))
    heirs = {fact_id: after.superseded_by for fact_id, (after, _) in last.items() if after}
    differences = []
    for fact_id, (after, changeset) in last.items():
        before, newer_id = first[fact_id], _find_last(heirs, fact_id)
        if _is_active(before) != _is_active(after):
            item = FactDifference(
                what=_name_difference(before, after, newer_id),
                fact_id=fact_id,
                fact=facts.get(fact_id),
                newer_id=newer_id,
                newer=facts.get(newer_id) if newer_id else None,
                because=after.because if after else "",
                changeset=changeset,
            )
            differences.append(item)
    in_place = {item.newer_id for item in differences}
    return [item for item in differences if item.fact_id not in in_place]


def _find_last(heirs: Mapping[uuid.UUID, uuid.UUID | None], fact_id: uuid.UUID) -> uuid.UUID | None:
    """Return the fact that replaced another in the end; None: nothing did."""
    passed = {fact_id}
    newer = heirs.get(fact_id)
    while newer is not None and (heir := heirs.get(newer)) is not None and heir not in passed:
        passed.add(newer)
        newer = heir
    return newer


def _read_steps(
    tenant: Tenant, since: datetime, until: datetime, conversation: Conversation | None
) -> Iterable[Change]:
    """Return the steps after `since` up to `until` that changed facts, oldest first.

    Uses index: semantic_changeset_by_time.
    """
    steps: QuerySet[Change] = Change.objects.of(tenant).filter(
        changeset__started_at__gt=since, changeset__started_at__lte=until
    )
    if conversation is not None:
        homes = list_ids_beside(conversation)
        steps = steps.filter(Q(changeset__conversation__in=homes) | Q(changeset__conversation=None))
    rows = steps.exclude(states={}).select_related("changeset")
    ordered = rows.order_by("changeset__started_at", "changeset_id", "position")
    found = list(ordered[: STEPS_AT_MOST + 1])
    if len(found) > STEPS_AT_MOST:
        raise Problem(f"More than {STEPS_AT_MOST:,} steps lie between: compare nearer moments.")
    return found


def _is_active(state: states.State | None) -> bool:
    return state is not None and state.is_active


def _name_difference(
    before: states.State | None, after: states.State | None, newer_id: uuid.UUID | None
) -> Difference:
    if after is None or after.is_active:
        is_new = before is None or before.because == Fact.Because.WAITING
        return Difference.ADDED if is_new else Difference.RESTORED
    if newer_id is None:
        return Difference.ENDED
    is_wrong = after.because == Fact.Because.WRONG
    return Difference.CORRECTED if is_wrong else Difference.REPLACED

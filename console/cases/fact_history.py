"""A fact's state when an answer was given, and the changes of it since then."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.safestring import SafeString

from console.highlights import show_difference
from console.texts import TEXTS
from retrieval.models import Retrieval
from semantic import states
from semantic.models import Change, Changeset, Fact

CHANGES_AT_MOST = 1_000


@dataclass(frozen=True, slots=True)
class LaterChange:
    """A change of a fact after the answer."""

    changeset: Changeset
    what: str
    newer: Fact | None
    """The sentence that replaced it."""
    difference: SafeString | str = ""
    """The newer sentence, with its deletions and insertions marked."""


def changes_of(
    retrieval: Retrieval, fact_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Change]]:
    """Return the changes that touched each fact, in order."""
    touching = Q(memory_id__in=fact_ids) | Q(other_memory_id__in=fact_ids)
    rows = Change.objects.of(retrieval.tenant).filter(touching).select_related("changeset")
    ids, changes = set(fact_ids), defaultdict(list)
    for change in rows.order_by("changeset__started_at", "changeset_id", "position")[
        :CHANGES_AT_MOST
    ]:
        for fact_id in {change.memory_id, change.other_memory_id} & ids:
            if fact_id is not None:
                changes[fact_id].append(change)
    return changes


def find_newer(
    retrieval: Retrieval, changes: Mapping[uuid.UUID, Sequence[Change]]
) -> dict[uuid.UUID, Fact]:
    """Return the facts that replaced others in these changes, by id."""
    pairs = (pair for steps in changes.values() for step in steps for pair in step.states.values())
    ids = {after["superseded_by"] for _, after in pairs if after and after["superseded_by"]}
    return Fact.objects.of(retrieval.tenant).in_bulk(ids)


def comes_after(changeset: Changeset, retrieval: Retrieval) -> bool:
    """Return whether a changeset is later than an answer; at one moment their ids decide."""
    return (changeset.started_at, changeset.id) > (retrieval.created_at, retrieval.id)


def state_at(fact: Fact, steps: Sequence[Change], retrieval: Retrieval) -> states.State:
    """Return a fact's state at an answer: after the last change before the answer.

    Without one it is the state before the first change after it; without any, that of its row.
    """
    pairs = [(change, change.states.get(str(fact.id))) for change in steps]
    known = [(change, pair) for change, pair in pairs if pair is not None]
    past = [pair for change, pair in known if not comes_after(change.changeset, retrieval)]
    if not known:
        return states.read_state(fact)
    return states.from_json(past[-1][1] if past else known[0][1][0]) or states.State()


def render_later(change: Change, fact: Fact, newer: Mapping[Any, Fact]) -> LaterChange:
    """Return a change in words, with the fact that replaced this one."""
    _before, after = change.states.get(str(fact.id), (None, None))
    state = states.from_json(after)
    heir = newer.get(state.superseded_by) if state and state.superseded_by else None
    difference = show_difference(fact.fact, heir.fact) if heir else ""
    return LaterChange(change.changeset, _render_what(change, state, heir), heir, difference)


def _render_what(change: Change, state: states.State | None, heir: Fact | None) -> str:
    if state is None:
        return str(change.get_action_display())
    if state.is_active:
        return "restored"
    what = TEXTS["retired_because"].get(state.because, state.because)
    return f"{what}, replaced by another fact" if heir else what

"""Steps of changesets in words: what each did to which fact, before and after."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.highlights import show_difference
from memoryproject.tenancy.models import Tenant
from semantic import states
from semantic.models import Change, Fact

HELD = "held"
WHAT = {
    Change.Action.NEW: "learnt",
    Change.Action.MERGE: "said again in other words",
    Change.Action.REINFORCE: "confirmed",
    Change.Action.UPDATE: "replaced",
    Change.Action.INVALIDATE: "closed",
    Change.Action.RESTORE: "restored",
    Change.Action.WITHDRAW: "lost evidence",
    Change.Action.RETURN: "got evidence back",
    Change.Action.SKIP: "left as it was",
}
NOTES = {
    "corrected": "a person put it right",
    "declared_wrong": "a person has declared it wrong",
    "echo": "it only repeats what an answer served",
    "unknown_alias": "the engine named a fact that it was never shown",
    "cap": "one run may not open or close more",
    "closed": "the same run had closed it",
    "same_text": "it says the same",
    "guideline_source": "only a user ends a guideline",
    "tool_source": "what a tool says yields no such fact",
    "waits": "it waits for a curator",
    "approved": "a curator has approved it",
    "rejected": "a curator has rejected it",
    "said_by_user": "a user has said it meanwhile",
    "too_long": "longer than a fact may be",
    "empty": "it says nothing",
    "reverted": "what another changeset did was undone",
    "unsupported": "no evidence was left",
    "changed_later": "something else has changed it since",
    "held_anew": "its sentence is held as another fact",
}
"""What the codes of changes say."""


@dataclass(frozen=True, slots=True)
class Told:
    """One step. `sentence` marks, where a fact was replaced, what the new one changed."""

    change: Change
    what: str
    note: str
    fact: Fact | None
    """None: the step is about no fact, or about one that was erased."""
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
        if self.after == HELD:
            return "good"
        return {"wrong": "bad", "reverted": "bad", "erased": "bad", "superseded": "warn"}.get(
            self.after, ""
        )


def tell_changes(
    tenant: Tenant, changes: Sequence[Change], *, about: Fact | None = None
) -> list[Told]:
    """Return steps in words, in one query; `about`: as seen from that fact."""
    ids = {one for change in changes for one in (change.memory_id, change.other_memory_id) if one}
    facts = Fact.objects.of(tenant).in_bulk(ids)
    return [_tell(change, facts, about) for change in changes]


def _tell(change: Change, facts: dict[uuid.UUID, Fact], about: Fact | None) -> Told:
    fact = facts.get(change.memory_id) if change.memory_id else None
    old = facts.get(change.other_memory_id) if change.other_memory_id else None
    shown = about or fact
    before, after = say_states(change, shown.id if shown else None)
    old_before, old_after = say_states(change, old.id if old else None)
    is_replaced = about is not None and change.other_memory_id == about.id
    return Told(
        change=change,
        what=_say_what(change, before, is_replaced=is_replaced),
        note=NOTES.get(change.note, change.note.replace("_", " ")),
        fact=fact,
        sentence=_say_sentence(fact, old),
        old=old,
        before=before,
        after=after,
        old_before=old_before,
        old_after=old_after,
    )


def _say_what(change: Change, before: str, *, is_replaced: bool) -> str:
    if change.action == Change.Action.UPDATE and not is_replaced:
        return "took the place of another"
    if change.action == Change.Action.INVALIDATE and before not in {"", HELD}:
        return "closed for another reason"
    return WHAT[Change.Action(change.action)]


def _say_sentence(fact: Fact | None, old: Fact | None) -> SafeString | str:
    if fact is None:
        return ""
    return show_difference(old.fact, fact.fact) if old else fact.fact


def say_states(change: Change, fact_id: uuid.UUID | None) -> tuple[str, str]:
    """Return how a step found and left a fact; empty where it did not open or close it."""
    pair = change.states.get(str(fact_id))
    if pair is None:
        return "", ""
    before, after = (states.from_json(one) for one in pair)
    return _say_state(before), _say_state(after)


def _say_state(state: states.State | None) -> str:
    return "" if state is None else state.because or HELD

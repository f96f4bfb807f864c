"""Reads and decides on the marks of places that still say what a retired fact said.

An answer asks for the marks of what it serves, and only in conversations in which something
was ever corrected. `mark_finding` makes the marks.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.db.models import Q
from django.db.models.functions import Now

from episodic.models import Conversation, Message
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import clean_line
from semantic.models import CorrectionMark, Fact

Place, State = CorrectionMark.Place, CorrectionMark.State
HEIRS_AT_MOST = 20
"""Corrections of corrections that are followed."""
NO_BRACKETS = str.maketrans("[]", "()")
HELD = "superseded wrong".split()
"""Reasons of retirement for which marks count; what was undone or erased corrects nothing."""


class Markable(Protocol):
    """What may contradict a correction: a message, an episode or a fact, or its values."""

    correction: str
    corrected_by: uuid.UUID | None

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""


class Datable(Protocol):
    """A fact, or its values, that may have replaced a wrong one."""

    corrected_at: datetime | None

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a mark says: since when a place is known to be wrong or over, and what is right."""

    fact: Fact
    heir: Fact | None
    """The active fact that replaced it, over any number of steps; None: nothing did."""

    @property
    def text(self) -> str:
        """Return it as answers print it, on one line and without brackets."""
        is_wrong = self.fact.invalidated_because == Fact.Because.WRONG
        if not is_wrong:
            what = f"no longer true since {self.fact.valid_until:%Y-%m-%d}"
        else:
            what = "corrected" if self.heir else "declared wrong"
            what = f"{what} on {self.fact.invalid_at:%Y-%m-%d}"
        if self.heir is None:
            return what
        return f"{what}: {print_heir(self.heir)}"


def print_heir(fact: Fact) -> str:
    """Return how a mark prints the fact that is right."""
    return clean_line(fact.fact).translate(NO_BRACKETS)


def marked_seqs(marks: Iterable[CorrectionMark], *, tenant: Tenant) -> set[int]:
    """Return the seqs of the messages among some marks."""
    ids = [mark.place_id for mark in marks if mark.place == Place.MESSAGE]
    return set(Message.objects.of(tenant).filter(id__in=ids).values_list("seq", flat=True))


def list_marks(facts: Sequence[Fact]) -> list[CorrectionMark]:
    """Return all marks of some facts of one tenant, oldest first; with fact and tenant."""
    if not facts:
        return []
    by_id = {fact.id: fact for fact in facts}
    rows = CorrectionMark.objects.of(facts[0].tenant).filter(fact__in=list(by_id))
    marks = list(rows.order_by("id"))
    for mark in marks:
        mark.fact = by_id[mark.fact_id]
    return marks


def set_state(marks: Sequence[CorrectionMark], *, state: str, actor: str) -> None:
    """Put marks of one tenant into a state, and note who decided so."""
    rows = CorrectionMark.objects.of(marks[0].tenant).filter(id__in=[mark.id for mark in marks])
    rows.update(state=state, decided_by=actor, decided_at=Now())


def erase_marks(*, tenant: Tenant, ids: Sequence[uuid.UUID]) -> None:
    """Delete the marks of facts and places, by their ids."""
    for some in in_batches(ids):
        of_them = Q(fact__in=some) | Q(place_id__in=some)
        CorrectionMark.objects.of(tenant).filter(of_them).delete()


def find_corrections(
    *, tenant: Tenant, place_ids: Iterable[uuid.UUID], as_of: datetime | None = None
) -> dict[uuid.UUID, Correction]:
    """Return the newest correction that each place contradicts, by the place's id.

    Two queries, and one more for each correction of a correction. With `as_of` not what was
    true then. Uses index: semantic_mark_by_place.
    """
    marks = CorrectionMark.objects.of(tenant).filter(
        place_id__in=list(place_ids), state=State.ACTIVE, fact__invalidated_because__in=HELD
    )
    rows = marks.select_related("fact").order_by("fact__invalid_at", "id")
    by_place = {mark.place_id: mark.fact for mark in rows if not _was_true(mark.fact, as_of)}
    heirs = _find_heirs(tenant, by_place.values())
    return {place_id: Correction(fact, heirs.get(fact.id)) for place_id, fact in by_place.items()}


def _was_true(fact: Fact, as_of: datetime | None) -> bool:
    if as_of is None or fact.invalidated_because == Fact.Because.WRONG:
        return False
    return fact.valid_until is None or as_of < fact.valid_until


def _find_heirs(tenant: Tenant, facts: Iterable[Fact]) -> dict[uuid.UUID, Fact]:
    """Return by fact the active one that stands in its place, if there is any."""
    heads = {fact.id: fact for fact in facts}
    for _ in range(HEIRS_AT_MOST):
        ids = {head.superseded_by_id for head in heads.values() if head.superseded_by_id}
        newer = Fact.objects.of(tenant).in_bulk(ids)
        if not newer:
            break
        for fact_id, head in heads.items():
            if head.superseded_by_id in newer:
                heads[fact_id] = newer[head.superseded_by_id]
    return {fact_id: head for fact_id, head in heads.items() if head.invalid_at is None}


def find_heirs(conversation: Conversation) -> list[Fact]:
    """Return the active facts that answers may print as corrections, oldest first."""
    marks = CorrectionMark.objects.within(conversation).filter(fact__invalidated_because__in=HELD)
    retired = Fact.objects.of(conversation.tenant).filter(id__in=marks.values("fact"))
    heirs = _find_heirs(conversation.tenant, retired)
    return sorted({heir.id: heir for heir in heirs.values()}.values(), key=lambda fact: fact.id)


def set_corrections(
    tenant: Tenant, rows: Sequence[Markable], *, as_of: datetime | None = None
) -> None:
    """Set on loaded rows what answers say of them where they contradict a correction."""
    corrections = find_corrections(tenant=tenant, place_ids=[row.pk for row in rows], as_of=as_of)
    for row in rows:
        if row.pk in corrections:
            row.correction = corrections[row.pk].text
            heir = corrections[row.pk].heir
            row.corrected_by = heir.id if heir else None


def set_corrected(conversation: Conversation, facts: Sequence[Datable]) -> None:
    """Set on facts when a person put them in the place of a wrong one.

    Uses index: semantic_fact_declared_wrong.
    """
    wrong = Fact.objects.within(conversation).filter(
        invalidated_because=Fact.Because.WRONG, superseded_by__in=[fact.pk for fact in facts]
    )
    days = dict(wrong.order_by("invalid_at").values_list("superseded_by_id", "invalid_at"))
    for fact in facts:
        fact.corrected_at = days.get(fact.pk)

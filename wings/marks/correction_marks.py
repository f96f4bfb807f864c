"""Reads the marks of places that still state a retired fact, for answers.

An answer looks up marks only in conversations in which something was corrected. `mark_finding`
creates the marks.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED
from memoryproject.text.parts import Kind, Part, Quote
from retrieval.corrections import HELD, follow_heirs, print_heir
from semantic.models import CorrectionMark, Fact

Place, State = CorrectionMark.Place, CorrectionMark.State


@dataclass(frozen=True, slots=True)
class Correction:
    """The contents of a mark: since when a place is wrong or outdated, and what is right."""

    fact: Fact
    heir: Fact | None
    """The active fact that replaced it in the end; None: nothing did."""

    @property
    def heir_id(self) -> uuid.UUID | None:
        return self.heir.id if self.heir else None

    def render(self, links: str = DEFANGED) -> list[Part]:
        """Return what answers print, on one line and without brackets."""
        if self.fact.invalidated_because == Fact.Because.WRONG:
            verb = "corrected" if self.heir else "declared wrong"
            what = f"{verb} on {self.fact.invalid_at:%Y-%m-%d}"
        else:
            what = f"no longer true since {self.fact.valid_until:%Y-%m-%d}"
        if self.heir is None:
            return [what]
        return [
            f"{what}: ",
            Quote(Kind.CORRECTION, str(self.heir.id), print_heir(self.heir, links)),
        ]


def facts_behind(fact: Fact) -> list[Fact]:
    """Return a fact and those it replaced directly, oldest first."""
    replaced = Fact.objects.of(fact.tenant).filter(
        conversation=fact.conversation_id, superseded_by=fact
    )
    return [*replaced.order_by("id"), fact]


def list_marks(fact: Fact) -> list[CorrectionMark]:
    """Return the marks of a fact and of those it replaced directly, oldest first."""
    marks = CorrectionMark.objects.of(fact.tenant).filter(fact__in=facts_behind(fact))
    return list(marks.order_by("id"))


def erase_marks(*, tenant: Tenant, ids: Sequence[uuid.UUID]) -> None:
    """Delete marks by the ids of their facts or places."""
    for some in in_batches(ids):
        of_them = Q(fact__in=some) | Q(place_id__in=some)
        CorrectionMark.objects.of(tenant).filter(of_them).delete()


def find_corrections(
    tenant: Tenant, place_ids: Sequence[uuid.UUID], as_of: datetime | None
) -> dict[uuid.UUID, Correction]:
    """Return the newest correction that each place contradicts, by the place's id.

    Takes two queries, and one per correction of a correction. Facts that were true at `as_of` are
    left out. Uses index: semantic_mark_by_place.
    """
    marks = CorrectionMark.objects.of(tenant).filter(
        place_id__in=place_ids, state=State.ACTIVE, fact__invalidated_because__in=HELD
    )
    if as_of is not None:
        is_wrong = Q(fact__invalidated_because=Fact.Because.WRONG)
        marks = marks.filter(is_wrong | Q(fact__valid_until__lte=as_of))
    rows = marks.select_related("fact").order_by("fact__invalid_at", "id")
    by_place = {mark.place_id: mark.fact for mark in rows}
    heirs = follow_heirs(tenant, by_place.values())
    return {place_id: Correction(fact, heirs.get(fact.id)) for place_id, fact in by_place.items()}

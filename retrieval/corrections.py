"""Finds the corrections that rows contradict, for answers to print; wings supply the marks.

Marks are looked up only in conversations in which something was corrected.
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from episodic import models as episodic
from episodic.models import Conversation
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, clean_line
from memoryproject.wings import list_wings
from semantic.models import CorrectionMark, Fact

HEIRS_AT_MOST = 20
"""Largest number of corrections of corrections that are followed."""
HELD = "superseded wrong".split()
"""Reasons of retirement that make marks valid; an undone or erased fact corrects nothing."""
NO_BRACKETS = str.maketrans("[]", "()")


class Markable(Protocol):
    """A row that may contradict a correction: a message, an episode, a fact, or its values."""

    correction: episodic.Correction | None

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""


class Datable(Markable, Protocol):
    """The values of a fact that may have replaced a wrong one."""

    corrected_at: datetime | None


def print_heir(fact: Fact, links: str = DEFANGED) -> str:
    """Return the text of a mark for the fact that is right."""
    return clean_line(fact.fact, links).translate(NO_BRACKETS)


def find_corrections(
    tenant: Tenant, row_ids: Sequence[uuid.UUID], as_of: datetime | None = None
) -> dict[uuid.UUID, episodic.Correction]:
    """Return the correction that each row contradicts, by the row's id."""
    found: dict[uuid.UUID, episodic.Correction] = {}
    for wing in list_wings():
        found |= wing.mark_rows(tenant, row_ids, as_of)
    return found


def set_corrections(
    tenant: Tenant, rows: Sequence[Markable], *, as_of: datetime | None = None
) -> None:
    """Set on loaded rows the corrections that they contradict."""
    corrections = find_corrections(tenant, [row.pk for row in rows], as_of)
    for row in rows:
        if correction := corrections.get(row.pk):
            row.correction = correction


def set_corrected(tenant: Tenant, facts: Sequence[Datable], *, homes: Sequence[uuid.UUID]) -> None:
    """Set on facts when a person created them as replacements of wrong ones.

    Uses index: semantic_fact_declared_wrong.
    """
    wrong = Fact.objects.of(tenant).filter(
        conversation__in=homes,
        invalidated_because=Fact.Because.WRONG,
        superseded_by__in=[fact.pk for fact in facts],
    )
    days = dict(wrong.order_by("invalid_at").values_list("superseded_by_id", "invalid_at"))
    for fact in facts:
        fact.corrected_at = days.get(fact.pk)


def follow_heirs(tenant: Tenant, facts: Iterable[Fact]) -> dict[uuid.UUID, Fact]:
    """Return the active fact that replaced each fact in the end, if there is one."""
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
    heirs = follow_heirs(conversation.tenant, retired)
    return sorted({heir.id: heir for heir in heirs.values()}.values(), key=lambda fact: fact.id)

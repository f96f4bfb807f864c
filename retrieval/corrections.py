"""What answers say of rows that contradict a correction, as the wings mark them.

An answer asks for marks only in conversations in which something was ever corrected.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from episodic import models as episodic
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, clean_line
from memoryproject.wings import list_wings
from semantic.models import Fact

NO_BRACKETS = str.maketrans("[]", "()")


class Markable(Protocol):
    """What may contradict a correction: a message, an episode or a fact, or its values."""

    correction: episodic.Correction | None

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""


class Datable(Markable, Protocol):
    """The values of a fact that may have replaced a wrong one."""

    corrected_at: datetime | None


def print_heir(fact: Fact, links: str = DEFANGED) -> str:
    """Return how a mark prints the fact that is right."""
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
    """Set on loaded rows what answers say of them where they contradict a correction."""
    corrections = find_corrections(tenant, [row.pk for row in rows], as_of)
    for row in rows:
        if correction := corrections.get(row.pk):
            row.correction = correction


def set_corrected(tenant: Tenant, facts: Sequence[Datable], *, homes: Sequence[uuid.UUID]) -> None:
    """Set on facts of some conversations when a person put them in the place of a wrong one.

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

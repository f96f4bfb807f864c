"""Decides on marks: confirms them, drops them, or quarantines the messages that they mark."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from memoryproject.edge.errors import NotFound, Problem
from semantic import rollback
from semantic.correction_marks import list_marks, set_state
from semantic.curation import Act, check_reason
from semantic.models import CorrectionMark, Fact

CONFIRM, DROP, QUARANTINE = DECISIONS = ("confirm", "drop", "quarantine")


def facts_behind(fact: Fact) -> list[Fact]:
    """Return a fact and those that it has replaced directly, oldest first."""
    replaced = Fact.objects.of(fact.tenant).filter(
        conversation=fact.conversation_id, superseded_by=fact
    )
    facts = [*replaced.order_by("id"), fact]
    for row in facts:
        row.tenant = fact.tenant
    return facts


def decide(*, act: Act, fact: Fact, mark_ids: Sequence[uuid.UUID], decision: str) -> None:
    """Confirm or drop marks of a fact or of what it replaced, or quarantine marked messages.

    Raises:
        NotFound: one is no mark of these facts, or all of the messages are quarantined already.
        Problem: no reason, or there is no message to quarantine.
    """
    check_reason(act.reason)
    wanted = set(mark_ids)
    marks = [mark for mark in list_marks(facts_behind(fact)) if mark.id in wanted]
    if len(marks) != len(wanted):
        raise NotFound("The fact has no such mark.")
    state = CorrectionMark.State.DROPPED if decision == DROP else CorrectionMark.State.ACTIVE
    if decision == QUARANTINE:
        messages = [mark.place_id for mark in marks if mark.place == CorrectionMark.Place.MESSAGE]
        if not messages:
            raise Problem("None of these places is a message: only messages can be quarantined.")
        rollback.withhold_messages(act=act, conversation=fact.conversation, message_ids=messages)
    set_state(marks, state=state, actor=act.actor)

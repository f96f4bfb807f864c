"""Decides on marks: confirms or drops them, or quarantines the marked places."""

import uuid
from collections.abc import Sequence

from django.db.models.functions import Now

from episodic.models import Withholding
from memoryproject.edge.errors import NotFound, Problem
from semantic.curation import Act, check_reason, invalidate_facts
from semantic.models import CorrectionMark, Fact
from wings.marks.correction_marks import list_marks
from wings.rollback import rollback

Place = CorrectionMark.Place
CONFIRM, DROP, QUARANTINE = DECISIONS = ("confirm", "drop", "quarantine")


def decide(*, act: Act, fact: Fact, mark_ids: Sequence[uuid.UUID], decision: str) -> None:
    """Confirm or drop marks of a fact and those it replaced, or quarantine the marked places.

    In the last case messages are quarantined and facts retired as wrong; episodes are made again.

    Raises:
        NotFound: one is no mark of these facts, or all of the messages are quarantined already.
        Problem: no reason, or there is neither a message nor an active fact to withhold.
    """
    check_reason(act.reason)
    wanted = set(mark_ids)
    marks = [mark for mark in list_marks(fact) if mark.id in wanted]
    if len(marks) != len(wanted):
        raise NotFound("The fact has no such mark.")
    state = CorrectionMark.State.DROPPED if decision == DROP else CorrectionMark.State.ACTIVE
    if decision == QUARANTINE:
        _withhold(act, fact, marks)
    rows = CorrectionMark.objects.of(act.tenant).filter(id__in=wanted)
    rows.update(state=state, decided_by=act.actor, decided_at=Now())


def _withhold(act: Act, fact: Fact, marks: Sequence[CorrectionMark]) -> None:
    """Quarantine the messages among marked places, then retire the remaining facts."""
    ids = {place: [mark.place_id for mark in marks if mark.place == place] for place in Place}
    if messages := ids[Place.MESSAGE]:
        source = Withholding(
            tenant=act.tenant,
            since=fact.conversation.created_at,
            conversation=fact.conversation,
            message_ids=messages,
            actor=act.actor,
            reason=act.reason,
        )
        rollback.roll_back(source)
    active = Fact.objects.of(act.tenant).filter(id__in=ids[Place.FACT], invalid_at=None)
    if facts := list(active.values_list("id", flat=True)):
        invalidate_facts(act=act, fact_ids=facts, because=Fact.Because.WRONG)
    if not facts and not messages:
        raise Problem("None of these places is a message or an active fact.")

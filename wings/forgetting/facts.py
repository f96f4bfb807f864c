"""Forgets facts at a user's request, and applies people's decisions about them.

A forgotten fact is retired and its messages are quarantined, so that it is no longer served.
Nothing is deleted: each fact waits in the review queue as a suggestion to erase it. Accepting it
permanently erases the fact and these messages; declining it restores both.
"""

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from django.db import transaction

from episodic.models import Withholding
from memoryproject.edge.errors import Conflict
from memoryproject.tenancy.models import Tenant
from semantic import curation, queries
from semantic.curation import Act
from semantic.engines import SuggestionKind
from semantic.models import Change, Fact, Suggestion
from semantic.services import Ledger, invalidate_fact, put_state
from semantic.states import State
from wings.erasure.services import erase_forgotten
from wings.marks.mark_finding import find_messages_saying
from wings.rollback import rollback
from wings.rollback.rollback import Work
from wings.suggestions import suggestions

ASKED = "asked"
"""Reason of the suggestions, and note of the steps."""
ALL_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def forget(
    *, act: Act, fact_ids: Collection[uuid.UUID], message_ids: Collection[uuid.UUID] = ()
) -> list[Suggestion]:
    """Retire facts and quarantine messages; return a suggestion to erase each fact.

    Facts that are not active are ignored. `message_ids` are quarantined, too; without a fact they
    are only listed among the rollbacks.

    Raises:
        NotFound: the tenant lacks one of the facts.
        Problem: no reason, or too many facts.
    """
    curation.check_reason(act.reason)
    with transaction.atomic():
        made: list[Suggestion] = []
        for conversation, facts in curation.lock_facts(act, list(fact_ids)) if fact_ids else ():
            active = [fact for fact in facts if fact.invalid_at is None]
            if not active:
                continue
            ledger = curation.open_ledger(act, conversation)
            made += [_forget_fact(fact, ledger, act, message_ids) for fact in active]
            ledger.close()
        quarantines = [row.withholding for row in made if row.withholding is not None]
        if not made and message_ids:
            quarantines = [_quarantine(act, message_ids)]
        work = [rollback.start(row) for row in quarantines]
        for row in made:
            row.save()
    _do_all(work)
    return made


def _forget_fact(
    fact: Fact, ledger: Ledger, act: Act, message_ids: Collection[uuid.UUID]
) -> Suggestion:
    """Retire an active fact; return the suggestion and its quarantine, both unsaved."""
    said_in = list(dict.fromkeys([*find_messages_saying(fact), *message_ids]))
    invalidate_fact(
        fact, ledger=ledger, valid_until=ledger.now, because=Fact.Because.FORGOTTEN, note=ASKED
    )
    ledger.note(Change.Action.SUGGEST, fact.id, note=ASKED)
    rows = Suggestion.objects.of(act.tenant)
    row = rows.filter(old_fact=fact, new_fact=None, kind=SuggestionKind.ERASE).first()
    row = row or Suggestion(kind=SuggestionKind.ERASE, reason=ASKED)
    row.tenant, row.conversation, row.old_fact = act.tenant, ledger.conversation, fact
    row.changeset, row.decision, row.decided_by = ledger.changeset, "", None
    row.is_withdrawn = row.is_reopened = False
    row.withholding = _quarantine(act, said_in) if said_in else None
    return row


def _quarantine(act: Act, message_ids: Iterable[uuid.UUID]) -> Withholding:
    return Withholding(
        tenant=act.tenant,
        since=ALL_TIME,
        message_ids=list(message_ids),
        actor=act.actor,
        reason=act.reason,
    )


def _do_all(work: Sequence[Work]) -> None:
    for one in work:
        one.do()


def accept_suggestion(*, act: Act, suggestion_id: uuid.UUID) -> Suggestion:
    """Apply a suggestion: erase a forgotten fact, or as in `suggestions`.

    The suggestion is erased with its fact: the returned row does not exist any more.
    """
    row = find_request(act.tenant, suggestion_id)
    if row is None:
        return suggestions.accept_suggestion(act=act, suggestion_id=suggestion_id)
    if not row.is_open:
        raise Conflict("The suggestion is no longer open.")
    reason = curation.check_reason(act.reason)
    erase_forgotten(act.tenant, row.old_fact_id, act.actor, reason)
    row.decision = suggestions.Decision.ACCEPTED
    return row


def decline_suggestion(*, act: Act, suggestion_id: uuid.UUID) -> Suggestion:
    """Leave facts as they are, or restore a forgotten one with its messages."""
    if find_request(act.tenant, suggestion_id) is None:
        return suggestions.decline_suggestion(act=act, suggestion_id=suggestion_id)
    with transaction.atomic():
        (row,), ledger = suggestions.lock_open(act, [suggestion_id], erases=True)
        fact = row.old_fact
        if queries.find_active(conversation=ledger.conversation, fact=fact.fact) is None:
            put_state(fact, State(), ledger=ledger, note=suggestions.Decision.DECLINED)
        else:  # it has been said and learned again since
            ledger.note(Change.Action.SKIP, fact.id, note=suggestions.Decision.DECLINED)
        suggestions.decide([row], suggestions.Decision.DECLINED, ledger)
        ledger.close()
        quarantine = row.withholding
    if quarantine is not None and quarantine.lifted_at is None:
        rollback.lift(act=act, withholding_id=quarantine.id)
    return row


def find_request(tenant: Tenant, suggestion_id: uuid.UUID) -> Suggestion | None:
    """Return a suggestion to erase, with its facts; None: another kind, or none."""
    rows = Suggestion.objects.of(tenant).filter(id=suggestion_id, kind=SuggestionKind.ERASE)
    return rows.select_related("old_fact", "new_fact", "conversation", "withholding").first()

"""Previews, runs and lifts a rollback: of all that came from one source since some moment.

Each conversation is a transaction of its own, so that nobody waits for all of them. A few
are done at once; where there are more, a worker goes on with them.
"""

import time
import uuid
from collections import Counter
from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from episodic import queries as episodic_queries
from episodic import withholding as episodic
from episodic.models import Conversation, Withholding
from jobs import claims
from jobs.claims import Claim
from jobs.enqueue import enqueue, wake
from jobs.models import Kind
from jobs.tasks import run_job
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Conflict, NotFound, get_row
from memoryproject.tenancy.models import Tenant
from semantic import queries
from semantic.conversation_rollback import Counts, undo_in
from semantic.curation import Act, check_reason
from semantic.models import Fact

CONVERSATIONS_AT_ONCE = 10
"""Conversations that are done while somebody waits, and that a preview looks at."""
LISTED_AT_ONCE = 200
NOTHING_SAID = "This source has said nothing since then that is not quarantined."


def preview(source: Withholding) -> tuple[Counts, dict[str, int], list[Fact]]:
    """Return what rolling back the source of an unsaved row would come to.

    That is the counts in its first conversations, how many conversations and messages were not
    looked at, and which active facts would be retired, up to 200. It does it and takes it back,
    one conversation after the other, so that the counts are those of the deed; other writers of
    that conversation wait meanwhile.

    Raises:
        Problem: no reason, or nothing but a time is given.
        NotFound: the source has said nothing since then that is not quarantined.
    """
    _check(source)
    messages = episodic.messages_from(source)
    first = episodic.conversations_with(messages, at_most=CONVERSATIONS_AT_ONCE)
    counts: Counts = Counter()
    taken: list[Fact] = []
    for conversation_id in first:
        with transaction.atomic():
            conversation = episodic_queries.lock_conversation(source.tenant, conversation_id)
            before = {fact.id: fact for fact in queries.active_in(conversation)}
            source.save(force_insert=True)
            counts.update(undo_in(conversation, withholding=source))
            after = set(queries.active_in(conversation).values_list("id", flat=True))
            taken += [fact for fact_id, fact in before.items() if fact_id not in after]
            transaction.set_rollback(True)
    if not counts["messages"]:
        raise NotFound(NOTHING_SAID)
    return counts, episodic.count(messages.exclude(conversation__in=first)), taken[:LISTED_AT_ONCE]


def roll_back(withholding: Withholding) -> None:
    """Save the row, and roll back what came from its source until now.

    Its `done_at` says whether a worker goes on with it. Receipts of past answers, what was
    reviewed and what is posted after this call stay as they are.

    Raises:
        Problem: no reason, or nothing but a time is given.
        NotFound: the source has said nothing since then that is not quarantined.
    """
    with transaction.atomic():
        _check(withholding)
        withholding.save(force_insert=True)
        left = episodic.conversations_left(withholding, at_most=CONVERSATIONS_AT_ONCE + 1)
        if not left:
            raise NotFound(NOTHING_SAID)
        job = enqueue(tenant=withholding.tenant, kind=Kind.ROLLBACK, scope=withholding.id)
    _work(withholding, job.id, left)


def withhold_messages(
    *, act: Act, conversation: Conversation, message_ids: Sequence[uuid.UUID]
) -> Withholding:
    """Quarantine some messages of a conversation; their episodes are made anew without them.

    Raises:
        Problem: no reason.
        NotFound: there are no such messages that are not quarantined.
    """
    withholding = Withholding(
        tenant=act.tenant,
        since=conversation.created_at,
        conversation=conversation,
        message_ids=list(message_ids),
        actor=act.actor,
        reason=act.reason,
    )
    roll_back(withholding)
    return withholding


def _check(source: Withholding) -> None:
    """Raise Problem unless an unsaved row names a source and a reason; set its time to now."""
    episodic.check_source(source)
    source.reason = check_reason(source.reason)
    source.created_at = read_database_clock()


def lift(*, act: Act, withholding_id: uuid.UUID) -> Withholding:
    """Lift a quarantine: what is in it is processed and learnt from like new.

    Raises:
        NotFound: the tenant has no such rollback.
        Conflict: it is lifted already.
        Problem: no reason.
    """
    check_reason(act.reason)
    with transaction.atomic():
        rows = Withholding.objects.of(act.tenant).select_for_update()
        withholding = get_row(rows, "withholding", id=withholding_id)
        if withholding.lifted_at is not None:
            raise Conflict("It is lifted already.")
        withholding.lifted_at = episodic_queries.database_now()
        withholding.lifted_by = act.actor
        withholding.done_at = None
        withholding.save(update_fields=["lifted_at", "lifted_by", "done_at"])
        left = episodic.conversations_left(withholding, at_most=CONVERSATIONS_AT_ONCE + 1)
        job = enqueue(tenant=act.tenant, kind=Kind.ROLLBACK, scope=withholding.id)
    _work(withholding, job.id, left)
    return withholding


def run_rollback(claim: Claim) -> None:
    """Do what is left of a withholding, or of lifting it, for a minute at most; then hand back.

    Raises:
        LeaseLost: somebody else does the same; what was done here before is done.
    """
    until = time.monotonic() + settings.FLUSH_AT_MOST_S
    tenant = claim.tenant
    while left := _find_left(tenant, claim.scope):
        for conversation_id in left:
            with claims.commit(claim, finish=False):
                _take(tenant, claim.scope, conversation_id)
            if time.monotonic() >= until:
                claims.hand_back(claim)
                wake(claim.job_id)
                return
    with claims.commit(claim):
        withholding = _lock(tenant, claim.scope)
        # Somebody may just have lifted it: their job does that.
        if withholding is not None and not episodic.conversations_left(withholding, at_most=1):
            withholding.done_at = episodic_queries.database_now()
            withholding.save(update_fields=["done_at"])


def _work(withholding: Withholding, job_id: uuid.UUID, left: Sequence[uuid.UUID]) -> None:
    if len(left) <= CONVERSATIONS_AT_ONCE:
        run_job(str(job_id))
        withholding.refresh_from_db()


def _lock(tenant: Tenant, withholding_id: uuid.UUID) -> Withholding | None:
    rows = Withholding.objects.of(tenant).filter(id=withholding_id)
    return rows.select_for_update().first()


def _find_left(tenant: Tenant, withholding_id: uuid.UUID) -> list[uuid.UUID]:
    withholding = Withholding.objects.of(tenant).filter(id=withholding_id).first()
    return episodic.conversations_left(withholding, at_most=LISTED_AT_ONCE) if withholding else []


def _take(tenant: Tenant, withholding_id: uuid.UUID, conversation_id: uuid.UUID) -> None:
    """Do one conversation, whichever of the two is wanted by now."""
    conversation = episodic_queries.lock_conversation(tenant, conversation_id)
    withholding = _lock(tenant, withholding_id)
    if withholding is None:
        return
    if withholding.lifted_at is not None:
        episodic.lift(conversation, withholding=withholding)
        return
    counts = undo_in(conversation, withholding=withholding)
    counts.update(withholding.made)
    withholding.made = counts
    withholding.save(update_fields=["made"])

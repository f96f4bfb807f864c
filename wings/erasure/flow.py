"""The flow that erases: one transaction per part, each counted in the erasure's row.

An interrupted run continues where it was. After the rows the pages of the mirror are deleted, and
only then the erasure is done.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from jobs import claims
from jobs.claims import Claim, LeaseLost
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy import reading
from memoryproject.wings import EventType
from wings.erasure import acts, parts, persons, proof, receipts, tenants
from wings.erasure.models import Erasure, Scope, State
from wings.events.outbox import NewEvent, announce
from wings.navigation import mirror

ERASURE_DONE = EventType("erasure.done", "an erasure is complete")
TAKEN = "taken"
"""Job input once all rows are deleted, so that text posted after that is not erased."""
PARTS: dict[Scope, Callable[[Erasure], acts.Done | None]] = {
    Scope.TENANT: tenants.erase_part,
    Scope.USER: parts.erase_user_part,
    Scope.PERSON: persons.erase_person_part,
    Scope.IMPORT: parts.erase_import_part,
    Scope.RETENTION: parts.erase_policy_part,
}
"""By scope: the function that erases the next part, if there are many."""
Report = Callable[[int], object]
"""Function that takes the number of rows that a part has deleted."""


def run_erasure(claim: Claim, *, report: Report = lambda rows: None) -> None:
    """Erase what the job's erasure names, for up to a minute; then give the job back.

    Raises:
        FolderAway: only pages of the mirror are left; try again later.
        LeaseLost: another worker does it; finished parts stay finished.
    """
    erasure = Erasure.objects.of(claim.tenant).filter(id=claim.scope).first()
    if erasure is None or erasure.state == State.DONE:
        with claims.commit(claim):
            return
    if erasure.scope == Scope.TENANT:
        with claims.commit(claim, finish=False):
            tenants.stop(claim.tenant, erasure)
        # Until no process believes a revoked key, and calls under way are over.
        time.sleep(2 * settings.KEY_REMEMBERED_S)
    while _take_part(claim, erasure.id, report):
        if claims.hand_back_if_late(claim):
            return
    _finish(claim, erasure.id)


def _take_part(claim: Claim, erasure_id: uuid.UUID, report: Report) -> bool:
    """Erase one part; return whether there may be another."""
    if TAKEN in claim.input:
        return False
    with claims.commit(claim, finish=False):
        erasure = Erasure.objects.of(claim.tenant).get(id=erasure_id)
        done = erase_next(erasure)
        if done is not None:
            add_up(erasure, done)
        more = done is not None and erasure.scope in PARTS
        if not more and erasure.scope != Scope.TENANT:
            claims.held(claim).update(input={TAKEN: True})
    report(sum(done.counts.values()) if done else 0)
    return more


def erase_next(erasure: Erasure) -> acts.Done | None:
    """Erase the next part of an erasure, inside the caller's transaction.

    None: nothing is left. A message, a conversation, a note or a fact is a single part.
    """
    tenant, target = erasure.tenant, erasure.target
    if erasure.scope in PARTS:
        return PARTS[Scope(erasure.scope)](erasure)
    if target is None:
        return None
    if erasure.scope == Scope.MESSAGE:
        return acts.erase_message(tenant=tenant, message_id=target, actor=erasure.actor)
    if erasure.scope == Scope.FACT:
        return acts.erase_fact(tenant=tenant, fact_id=target, actor=erasure.actor)
    if erasure.scope == Scope.NOTE:
        return acts.erase_notes(tenant=tenant, note_ids=[target])
    return acts.erase_conversation(tenant=tenant, conversation_id=target)


def add_up(erasure: Erasure, done: acts.Done) -> None:
    erasure.counts = dict(+(Counter(erasure.counts) + done.counts))
    if mirror.is_on() and erasure.scope != Scope.TENANT:
        erasure.pages = [*erasure.pages, *done.memory_ids]
    erasure.save(update_fields=["counts", "pages"])


def _finish(claim: Claim, erasure_id: uuid.UUID) -> None:
    """Delete files, and mark the erasure as done; replicas must have replayed it to be read."""
    reading.note_erasure(claim.tenant)
    erasure = Erasure.objects.of(claim.tenant).get(id=erasure_id)
    if erasure.scope == Scope.TENANT:
        _finish_tenant(claim, erasure)
        return
    if erasure.pages:
        receipts.erase_pages(tenant=claim.tenant, memory_ids=erasure.pages)
    pass_point(Point.PAGES_REMOVED)
    # Outside any transaction: it may take some seconds, and the names are known until the last.
    erasure.proof = proof.scan_for_subject(erasure)
    with claims.commit(claim, result={"rows": sum(erasure.counts.values())}):
        _mark_done(erasure)
        data = {"erasure_id": str(erasure.id), "scope": erasure.scope, "counts": erasure.counts}
        event = NewEvent(ERASURE_DONE, data)
        announce([event], tenant=claim.tenant, scope=claim.tenant.id)


def _finish_tenant(claim: Claim, erasure: Erasure) -> None:
    receipts.erase_folder(claim.tenant.id)
    pass_point(Point.PAGES_REMOVED)
    with transaction.atomic():
        # The job is deleted too, so it is checked first: from here on nobody can claim it.
        if not claims.holds(claim):
            raise LeaseLost(str(claim.id))
        rest = tenants.erase_rest(claim.tenant)
        erasure.counts = dict(+(Counter(erasure.counts) + rest))
        _mark_done(erasure)
        others = Erasure.objects.of(claim.tenant).filter(state=State.RUNNING)
        others.update(state=State.DONE, finished_at=Now(), subject="", pages=[])


def _mark_done(erasure: Erasure) -> None:
    erasure.state, erasure.finished_at = State.DONE, Now()
    erasure.subject, erasure.pages = "", []
    erasure.save(update_fields=["state", "finished_at", "subject", "pages", "counts", "proof"])

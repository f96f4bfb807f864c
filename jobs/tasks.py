"""What a worker does when it is woken: claim the job, run its flow, settle the outcome."""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError
from django.utils.module_loading import import_string

from episodic import segmentation
from episodic import services as episodic
from episodic.choice import make_reviewer, make_segmenter
from jobs import claims
from jobs.calls import Asker, make_asker
from jobs.claims import Charge, Claim, LeaseLost, SnapshotMoved
from jobs.enqueue import wake
from jobs.models import Kind
from jobs.renewing import renewing
from memoryproject import logs
from memoryproject.ai import breaker
from memoryproject.ai.breaker import BreakerOpen
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.walls import acting_for
from retrieval import embedding, mirroring, receipts, reviewing, serving
from retrieval.mirror import FolderAway
from semantic import consolidation, rollback
from semantic.choice import make_consolidator

logger = logging.getLogger("memory.jobs")

ASKS_NO_MODEL = frozenset({Kind.MIRROR, Kind.ERASE, Kind.ROLLBACK})
ERASING = "erasure.flow.run_erasure"
"""By name: it uses every app, and so stands above this."""


def run_job(job_id: str) -> bool:
    """Run the job if it is due and nobody holds it; return whether it ran.

    This is what a queue's wake-up calls. It never raises: an exception's text may hold
    what somebody said, and the queue would store it.
    """
    try:
        claim = claims.claim(uuid.UUID(job_id))
    except (DatabaseError, InterfaceError) as error:
        logger.warning("job %s not claimed: %s", job_id, type(error).__name__)
        return False
    if claim is None:
        return False
    bound = logs.bind(job=claim.job_id, kind=claim.kind, tenant=claim.tenant.id)
    with acting_for(claim.tenant.id), bound:
        _run_claimed(claim)
    return True


def _run_claimed(claim: Claim) -> None:
    try:
        with renewing(claim):
            claims.refuse_killer(claim)
            if settings.LLM == "openai" and claim.kind not in ASKS_NO_MODEL:
                breaker.check(settings.CHAT_MODEL)
            FLOWS[Kind(claim.kind)](claim)
        logger.info("job done")
    except Exception as error:
        _settle(claim, error)


def _settle(claim: Claim, error: Exception) -> None:
    """Give a failed job back with a wait that fits the failure."""
    logger.warning("job failed", extra=logs.describe_error(error))
    if isinstance(error, LeaseLost):
        return
    wait, charge = judge_failure(claim, error)
    try:
        if claims.release(claim, error=error, after=wait, charge=charge):
            _on_death(claim)
        elif isinstance(error, SnapshotMoved):
            wake(claim.job_id)
    except (DatabaseError, InterfaceError) as failure:
        # The lease ends by itself; the reconciler wakes the job then.
        logger.warning("job %s not released: %s", claim.job_id, type(failure).__name__)


def judge_failure(claim: Claim, error: Exception) -> tuple[timedelta, Charge]:
    """Return how long a job waits after a failure, and what the failure costs it."""
    if isinstance(error, SnapshotMoved):
        return timedelta(0), Charge.NOTHING
    if isinstance(error, BreakerOpen):
        # Long: when the model is back, the reconciler calls everybody.
        return claims.BACKOFF_LAST * random.random(), Charge.NOTHING
    if isinstance(error, ModelUnavailable):
        wait = claims.backoff(claim.transient_failures)
        if error.retry_after_s is not None:
            wait = max(wait, timedelta(seconds=error.retry_after_s))
        return wait, Charge.FAILURE if type(error) is ModelUnavailable else Charge.NOTHING
    if isinstance(error, ModelMisbehaved | FolderAway) or is_of_the_database(error):
        # Of models only that of the vectors gets here, and nothing can be done without it.
        return claims.backoff(claim.transient_failures), Charge.FAILURE
    return claims.backoff(claim.attempts), Charge.ATTEMPT


def is_of_the_database(error: Exception) -> bool:
    """Return whether the database was away, or not as we need it, as during an upgrade."""
    ours = isinstance(error, (DataError, IntegrityError))
    return isinstance(error, (DatabaseError, InterfaceError)) and not ours


def _on_death(claim: Claim) -> None:
    """Leave what a dead job worked on in a state that people can see and retry."""
    if claim.kind in {Kind.CONSOLIDATE, Kind.FLUSH}:
        episodic.mark_all_failed(tenant=claim.tenant, conversation_id=claim.scope)


def _asker(claim: Claim) -> Asker:
    return make_asker(
        tenant=claim.tenant,
        job_id=claim.job_id,
        failures=claim.transient_failures,
        token=claim.token,
    )


def segment(claim: Claim) -> None:
    """Segment the conversation's window once."""
    segmentation.segment_window(
        claim=claim,
        segmenter=make_segmenter(_asker(claim)),
        take_reviews=receipts.take_pending_reviews,
    )


def consolidate(claim: Claim) -> None:
    """Draw facts from the conversation's fresh episodes once."""
    consolidation.consolidate_batch(
        claim=claim,
        consolidator=make_consolidator(_asker(claim)),
        find_answers=serving.find_answers,
        force=bool(claim.input.get("force")),
    )


def review(claim: Claim) -> None:
    """Rate the episodes that earlier answers served."""
    reviewing.review_retrievals(
        claim=claim,
        reviewer=make_reviewer(_asker(claim)),
    )


def flush(claim: Claim) -> None:
    """Close the whole window, then draw facts from every fresh episode.

    Many commits, each exactly once: what one run finished, the next finds done. After a
    while the job is handed back, to go on in another run: no worker is held for ever.
    """
    ask = _asker(claim)
    segmenter, consolidator = make_segmenter(ask), make_consolidator(ask)
    until = time.monotonic() + settings.FLUSH_AT_MOST_S
    while time.monotonic() < until:
        outcome = segmentation.segment_window(
            claim=claim,
            segmenter=segmenter,
            take_reviews=receipts.take_pending_reviews,
            everything=True,
            finish=False,
        )
        if not outcome.moved and not consolidation.consolidate_batch(
            claim=claim,
            consolidator=consolidator,
            find_answers=serving.find_answers,
            force=True,
            finish=False,
        ):
            with claims.commit(claim):
                return
    claims.hand_back(claim)
    wake(claim.job_id)


def embed(claim: Claim) -> None:
    """Make the vectors that the conversation lacks, a batch at a time."""
    until = time.monotonic() + settings.FLUSH_AT_MOST_S
    while time.monotonic() < until:
        if not embedding.embed_batch(claim):
            return
    claims.hand_back(claim)
    wake(claim.job_id)


def erase(claim: Claim) -> None:
    """Erase what somebody wants erased."""
    run_erasure: Callable[[Claim], None] = import_string(ERASING)
    run_erasure(claim)


FLOWS: dict[Kind, Callable[[Claim], None]] = {
    Kind.SEGMENT: segment,
    Kind.CONSOLIDATE: consolidate,
    Kind.REVIEW: review,
    Kind.FLUSH: flush,
    Kind.EMBED: embed,
    Kind.MIRROR: mirroring.mirror_changed,
    Kind.ERASE: erase,
    Kind.ROLLBACK: rollback.run_rollback,
}

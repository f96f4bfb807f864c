"""What a worker does when it is woken: claim the job, run its flow, settle the outcome."""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from episodic import segmentation
from episodic import services as episodic
from episodic.choice import make_reviewer, make_segmenter
from jobs import claims
from jobs.calls import make_asker
from jobs.claims import Claim, LeaseLost, SnapshotMoved
from jobs.enqueue import wake
from jobs.models import Kind
from memoryproject.ai.errors import ModelUnavailable
from retrieval import receipts, reviewing, serving
from semantic import consolidation
from semantic.choice import make_consolidator

logger = logging.getLogger("memory.jobs")


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
    try:
        FLOWS[Kind(claim.kind)](claim)
        logger.info("job %s %s done", claim.kind, claim.job_id)
    except Exception as error:
        _settle(claim, error)
    return True


def _settle(claim: Claim, error: Exception) -> None:
    """Give a failed job back with a wait that fits the failure."""
    logger.warning("job %s %s failed: %s", claim.kind, claim.job_id, name_failure(error))
    try:
        if isinstance(error, LeaseLost):
            return
        if isinstance(error, SnapshotMoved):
            claims.release(claim, error=error, after=timedelta(0), counts=False)
            wake(claim.job_id)
        elif isinstance(error, ModelUnavailable):
            wait = claims.backoff(claim.transient_failures)
            if error.retry_after_s is not None:
                wait = max(wait, timedelta(seconds=error.retry_after_s))
            claims.release(claim, error=error, after=wait, counts=False)
        elif isinstance(error, (OperationalError, InterfaceError)):
            wait = claims.backoff(claim.transient_failures)
            claims.release(claim, error=error, after=wait, counts=False)
        else:
            after = claims.backoff(claim.attempts)
            if claims.release(claim, error=error, after=after, counts=True):
                _on_death(claim)
    except (DatabaseError, InterfaceError) as failure:
        # The lease ends by itself; the reconciler wakes the job then.
        logger.warning("job %s not released: %s", claim.job_id, type(failure).__name__)


def name_failure(error: Exception) -> str:
    """Return the class of an error and where it arose; never its text, which may quote."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _on_death(claim: Claim) -> None:
    """Leave what a dead job worked on in a state that people can see and retry."""
    if claim.kind in {Kind.CONSOLIDATE, Kind.FLUSH}:
        episodic.mark_consolidation_failed(tenant=claim.tenant, conversation_id=claim.scope)


def segment(claim: Claim) -> None:
    """Segment the conversation's window once."""
    segmentation.segment_window(
        claim=claim,
        segmenter=make_segmenter(make_asker(tenant=claim.tenant, job_id=claim.job_id)),
        take_reviews=receipts.take_pending_reviews,
    )


def consolidate(claim: Claim) -> None:
    """Draw facts from the conversation's fresh episodes once."""
    consolidation.consolidate_batch(
        claim=claim,
        consolidator=make_consolidator(make_asker(tenant=claim.tenant, job_id=claim.job_id)),
        find_answers=serving.find_answers,
        force=bool(claim.input.get("force")),
    )


def review(claim: Claim) -> None:
    """Rate the episodes that earlier answers served."""
    reviewing.review_retrievals(
        claim=claim,
        reviewer=make_reviewer(make_asker(tenant=claim.tenant, job_id=claim.job_id)),
    )


def flush(claim: Claim) -> None:
    """Close the whole window, then draw facts from every fresh episode.

    Many commits, each exactly once: what one run finished, the next finds done. After a
    while the job is handed back, to go on in another run: no worker is held for ever.
    """
    ask = make_asker(tenant=claim.tenant, job_id=claim.job_id)
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
        if not outcome.left and not consolidation.consolidate_batch(
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


FLOWS: dict[Kind, Callable[[Claim], None]] = {
    Kind.SEGMENT: segment,
    Kind.CONSOLIDATE: consolidate,
    Kind.REVIEW: review,
    Kind.FLUSH: flush,
}

"""The jobs that draw facts from episodes and roll sources back, and the chore for leftovers."""

from datetime import timedelta
from functools import partial

from episodic import queries, segmentation
from episodic import services as episodic
from episodic.choice import make_segmenter
from episodic.models import Conversation
from episodic.moving import departures
from episodic.segmentation import TakeReviews
from jobs import claims
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.flows import Flow, chores, register_flow
from jobs.models import Kind
from semantic import consolidation, parting
from semantic.choice import make_consolidator
from semantic.snapshots import FindAnswers
from wings.rollback import rollback
from wings.suggestions import automatic

LEFTOVERS_WAIT = timedelta(hours=2)
"""Episodes below the consolidation threshold wait this long for company."""


def register(*, take_reviews: TakeReviews, find_answers: FindAnswers) -> None:
    """Say how the jobs run; the app that knows of receipts hands in what stands in them."""
    make_facts = partial(
        Flow,
        gives_up_by_halves=True,
        on_death=episodic.mark_consolidation_failed,
        on_retry=episodic.retry_failed_consolidation,
    )
    run_flush = partial(flush, take_reviews=take_reviews, find_answers=find_answers)
    register_flow(
        Kind.CONSOLIDATE,
        make_facts(run=partial(consolidate, find_answers=find_answers), waits_for=(Kind.FLUSH,)),
    )
    register_flow(Kind.FLUSH, make_facts(run=run_flush, waits_for=(Kind.SEGMENT, Kind.CONSOLIDATE)))
    register_flow(Kind.ROLLBACK, Flow(run=rollback.run_rollback, asks_model=False))
    departures.append(parting.leave_user)
    chores.append(queue_leftovers)
    chores.append(automatic.decide_alone)


def consolidate(claim: Claim, *, find_answers: FindAnswers) -> None:
    """Draw facts from the conversation's fresh episodes once."""
    consolidation.consolidate_batch(
        claim=claim,
        consolidator=make_consolidator(find_asker(claim)),
        find_answers=find_answers,
        force=bool(claim.input.get("force")),
    )


def flush(claim: Claim, *, take_reviews: TakeReviews, find_answers: FindAnswers) -> None:
    """Close the whole window, then draw facts from every fresh episode.

    Many commits, each exactly once: what one run finished, the next finds done. After a
    while the job is handed back, to go on in another run: no worker is held for ever.
    """
    ask = find_asker(claim)
    segmenter, consolidator = make_segmenter(ask), make_consolidator(ask)
    while not claims.hand_back_if_late(claim):
        moved = segmentation.segment_window(
            claim=claim,
            segmenter=segmenter,
            take_reviews=take_reviews,
            everything=True,
            finish=False,
        ) or consolidation.consolidate_batch(
            claim=claim,
            consolidator=consolidator,
            find_answers=find_answers,
            force=True,
            finish=False,
        )
        if not moved:
            with claims.commit(claim):
                return


def queue_leftovers(*, at_most: int) -> None:
    """Queue the consolidation of episodes that have waited long enough, or whose job was lost."""
    before = queries.database_now() - LEFTOVERS_WAIT
    ids = queries.conversations_with_stale_episodes(created_before=before, at_most=at_most)
    stale = Conversation.across_tenants.select_related("tenant").filter(id__in=ids)
    for conversation in stale.order_by("id"):
        episodic.request_consolidation(conversation, force=True)

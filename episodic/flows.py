"""The job that segments a window of messages, and the chore that finds windows fallen silent."""

from datetime import timedelta
from functools import partial

from django.conf import settings

from episodic import moving, queries, segmentation, services
from episodic.choice import make_segmenter
from episodic.segmentation import TakeReviews
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.enqueue import enqueue
from jobs.flows import Flow, chores, register_flow
from jobs.models import Kind


def register(*, take_reviews: TakeReviews) -> None:
    """Say how the jobs run; the app that knows of receipts hands in how reviews are taken."""
    register_flow(
        Kind.SEGMENT,
        Flow(
            run=partial(segment, take_reviews=take_reviews),
            gives_up_by_halves=True,
            waits_for=(Kind.FLUSH,),
        ),
    )
    register_flow(Kind.MOVE, Flow(run=moving.move_conversation, asks_model=False))
    chores.append(queue_due_windows)
    chores.append(close_silent_conversations)
    chores.append(moving.queue_moves)


def segment(claim: Claim, *, take_reviews: TakeReviews) -> None:
    """Segment the conversation's window once."""
    segmentation.segment_window(
        claim=claim, segmenter=make_segmenter(find_asker(claim)), take_reviews=take_reviews
    )


def queue_due_windows(*, at_most: int) -> None:
    """Queue the segmentation of windows that have become due, or whose job was lost."""
    for conversation in queries.conversations_with_due_windows(at_most=at_most):
        enqueue(tenant=conversation.tenant, kind=Kind.SEGMENT, scope=conversation.id)


def close_silent_conversations(*, at_most: int) -> None:
    """Settle the conversations of users that have fallen silent: their session is over."""
    silence = timedelta(minutes=settings.CLOSE_AFTER_MINUTES)
    if silence:
        silent = queries.conversations_fallen_silent(silence=silence, at_most=at_most)
        for conversation in silent:
            services.request_flush(conversation=conversation)

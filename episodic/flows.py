"""The job that segments a window of messages, and the chore that finds windows fallen silent."""

from datetime import timedelta

from django.conf import settings

from episodic import queries, segmentation, services
from episodic.choice import make_segmenter
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.enqueue import enqueue
from jobs.models import Kind


def segment(claim: Claim) -> None:
    """Segment the conversation's window once."""
    segmentation.segment_window(claim=claim, segmenter=make_segmenter(find_asker(claim)))


def queue_due_windows(*, at_most: int) -> None:
    """Queue the segmentation of windows that have become due, or whose job was lost."""
    for conversation in queries.conversations_with_due_windows(at_most=at_most):
        enqueue(tenant=conversation.tenant, kind=Kind.SEGMENT, scope=conversation.id)


def close_silent_conversations(*, at_most: int) -> None:
    """Queue the end of session for users' conversations that have gone silent."""
    silence = timedelta(minutes=settings.CLOSE_AFTER_MINUTES)
    if silence:
        silent = queries.conversations_fallen_silent(silence=silence, at_most=at_most)
        for conversation in silent:
            services.request_flush(conversation=conversation)

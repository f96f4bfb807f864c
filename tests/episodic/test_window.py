"""When a window is due, and how much of it is closed."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from episodic import queries
from episodic.models import Conversation, Message
from episodic.window import count_closed
from tests.conftest import Agent

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("pending", "doubled", "oldest", "silent", "due"),
    [
        (0, False, 30 * HOUR, 30 * HOUR, False),
        (4, False, 3 * HOUR, 3 * HOUR, False),
        (4, False, 25 * HOUR, 24 * HOUR, True),
        (1, False, 24 * HOUR, 24 * HOUR, True),
        (5, False, 2 * HOUR, MINUTE, True),
        (5, False, 2 * HOUR - MINUTE, MINUTE, False),
        (19, False, HOUR, MINUTE, False),
        (20, False, MINUTE, MINUTE, True),
        (20, True, MINUTE, MINUTE, False),
        (40, True, MINUTE, MINUTE, True),
        (20, True, 2 * HOUR, MINUTE, True),
    ],
)
@pytest.mark.django_db
def test_a_window_is_due_by_size_by_age_or_by_silence(
    ana: Agent, pending: int, doubled: bool, oldest: timedelta, silent: timedelta, due: bool
) -> None:
    conversation = Conversation.objects.create(
        tenant=ana.tenant, external_id=uuid.uuid4(), window_doubled=doubled, pending_count=pending
    )
    ages = [oldest, *[silent] * (pending - 1)][:pending]
    Message.objects.bulk_create(
        Message(
            tenant=ana.tenant,
            conversation=conversation,
            seq=seq,
            role="user",
            content="Hello.",
            occurred_at=timezone.now(),
            received_at=Now() - age,
            pending_after=seq,
        )
        for seq, age in enumerate(ages, start=1)
    )
    assert queries.is_window_due(conversation) is due
    found = queries.conversations_with_due_windows(at_most=9)
    assert (conversation in found) is due


def test_of_several_segments_the_last_stays() -> None:
    assert count_closed(3, doubled=False, everything=False) == 2
    assert count_closed(3, doubled=True, everything=False) == 2


def test_a_single_segment_doubles_the_window_once_and_is_then_closed() -> None:
    assert count_closed(1, doubled=False, everything=False) == 0
    assert count_closed(1, doubled=True, everything=False) == 1


def test_a_flush_leaves_nothing() -> None:
    assert count_closed(3, doubled=True, everything=True) == 3

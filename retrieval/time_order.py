"""Orders messages by score, and messages of similar score by time, as the question asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from retrieval.hits import MessageRow, Place

Key = TypeVar("Key", bound=Place)

ORDERED_WITHIN = 4.0
"""Distance from the best score, in deviations, within which messages are ordered by time."""
ORDER_BONUS = 3.0
"""Bonus of the first of these messages in time; less for each later one."""


def order_messages(
    messages: Mapping[Key, MessageRow], scores: Mapping[Key, float], *, order: int
) -> list[MessageRow]:
    """Return messages best first, ties newest first; similar scores in the order asked for.

    `order`: EARLIEST or LATEST where the question asks for the first or the last time, else 0.
    """
    if order and scores:
        scores = _lead_by_time(messages, scores, order)

    def rank(place: Key) -> tuple[float, datetime, int, str]:
        episode_id, seq = place
        return scores[place], messages[place].said_at, seq, episode_id or ""

    return [messages[place] for place in sorted(messages, key=rank, reverse=True)]


def _lead_by_time(
    messages: Mapping[Key, MessageRow], scores: Mapping[Key, float], order: int
) -> dict[Key, float]:
    """Return scores raised by how early (or late) each of the best messages is."""
    least = max(scores.values()) - ORDERED_WITHIN
    rivals = [place for place, score in scores.items() if score >= least]
    rivals.sort(key=lambda place: order * messages[place].said_at.timestamp())
    steps = {place: step / len(rivals) for step, place in enumerate(rivals)}
    return {
        place: score + ORDER_BONUS * (1 - steps[place]) if place in steps else score
        for place, score in scores.items()
    }

"""Orders messages by their scores, and about equal ones by time, as the question asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from retrieval.hits import MessageRow, Place

Key = TypeVar("Key", bound=Place)

ORDERED_WITHIN = 4.0
"""Below the best score, in deviations: what is further down does not answer as well."""
ORDER_BONUS = 3.0
"""Bonus of the first of these messages where the first is asked for; less for each one after it."""


def order_messages(
    messages: Mapping[Key, MessageRow], scores: Mapping[Key, float], *, order: int
) -> list[MessageRow]:
    """Return messages, best first, of equal ones the newest; of about equal ones as is asked for.

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
    """Return scores that rise the more, the earlier (or the later) one of the best ones is."""
    least = max(scores.values()) - ORDERED_WITHIN
    rivals = [place for place, score in scores.items() if score >= least]
    rivals.sort(key=lambda place: order * messages[place].said_at.timestamp())
    steps = {place: step / len(rivals) for step, place in enumerate(rivals)}
    return {
        place: score + ORDER_BONUS * (1 - steps[place]) if place in steps else score
        for place, score in scores.items()
    }

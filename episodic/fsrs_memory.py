"""How well an episode is remembered: FSRS-6, by the `fsrs` library, without its clock.

Fuzz and learning steps are off: an episode is no flash card in training.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import fsrs

from episodic.engines import Rating

SURPRISE_BOOST = 0.5
"""Initial stability is multiplied by 1 + boost × surprise."""

_scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
DECAY = _scheduler.parameters[20]
"""w20 of FSRS-6, as the exponent of the forgetting curve (negated in the formula)."""
FACTOR = 0.9 ** (-1 / DECAY) - 1
"""Chosen so that retrievability is 0.9 when as much time has passed as stability says."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """FSRS's two numbers: stability in days, difficulty in 1..10."""

    stability: float
    difficulty: float


def retrievability(*, elapsed: timedelta, stability_days: float) -> float:
    """Return the chance, in 0.0..1.0, that an episode is still remembered.

    1.0 when `elapsed` is zero or negative (clocks differ); 0.9 when it equals
    `stability_days`. Source: the FSRS-6 forgetting curve. We differ from the library in
    one thing: elapsed time is in fractional days, because an agent may ask twice an hour.

    Raises:
        ValueError: `stability_days` is not above zero.
    """
    if not stability_days > 0:
        raise ValueError("stability must be above zero")
    days = max(elapsed / timedelta(days=1), 0.0)
    return float((1 + FACTOR * days / stability_days) ** -DECAY)


def initial_state(*, surprise: float, at: datetime) -> MemoryState:
    """Return the state of a new episode: a first *Good*, more stable by its surprise."""
    card = _rate(fsrs.Card(), Rating.GOOD, at)
    return MemoryState(card.stability * (1 + SURPRISE_BOOST * surprise), card.difficulty)


def reviewed_state(
    *, state: MemoryState, last_reviewed_at: datetime, rating: Rating, at: datetime
) -> MemoryState:
    """Return the state after a review: exactly the library's."""
    card = fsrs.Card(
        state=fsrs.State.Review,
        stability=state.stability,
        difficulty=state.difficulty,
        last_review=last_reviewed_at,
        due=last_reviewed_at,
    )
    return _rate(card, rating, at)


def _rate(card: fsrs.Card, rating: Rating, at: datetime) -> MemoryState:
    card_after, _log = _scheduler.review_card(card, fsrs.Rating[rating.capitalize()], at)
    if card_after.stability is None or card_after.difficulty is None:
        raise ValueError("the fsrs library left a reviewed card without a state")
    return MemoryState(card_after.stability, card_after.difficulty)

"""Retrievability and reviews are the fsrs library's, up to fractional days."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import fsrs
import pytest
from django.db import connection

from episodic import fsrs_memory
from episodic.engines import Rating
from episodic.fsrs_memory import MemoryState

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LIBRARY = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def card(state: MemoryState, last_reviewed_at: datetime) -> fsrs.Card:
    return fsrs.Card(
        state=fsrs.State.Review,
        stability=state.stability,
        difficulty=state.difficulty,
        last_review=last_reviewed_at,
        due=last_reviewed_at,
    )


def test_a_memory_is_certain_at_first_and_at_nine_tenths_after_its_stability() -> None:
    assert fsrs_memory.retrievability(elapsed=timedelta(0), stability_days=3.0) == 1.0
    at_stability = fsrs_memory.retrievability(elapsed=timedelta(days=3), stability_days=3.0)
    assert at_stability == pytest.approx(0.9)


def test_a_clock_that_runs_behind_does_not_make_a_memory_more_than_certain() -> None:
    assert fsrs_memory.retrievability(elapsed=timedelta(days=-1), stability_days=3.0) == 1.0


@pytest.mark.parametrize("stability", [0.0, -1.0, float("nan")])
def test_a_stability_that_is_none_is_refused(stability: float) -> None:
    with pytest.raises(ValueError, match="stability"):
        fsrs_memory.retrievability(elapsed=timedelta(days=1), stability_days=stability)


@pytest.mark.parametrize("days", [0, 1, 2, 7, 30, 365])
@pytest.mark.parametrize("stability", [0.1, 2.3065, 40.0])
def test_retrievability_is_the_librarys_at_whole_days(days: int, stability: float) -> None:
    theirs = LIBRARY.get_card_retrievability(
        card(MemoryState(stability, 5.0), NOW - timedelta(days=days)), NOW
    )
    ours = fsrs_memory.retrievability(elapsed=timedelta(days=days), stability_days=stability)
    assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.django_db
def test_the_formula_in_python_equals_the_one_in_sql_on_a_thousand_rows() -> None:
    numbers = random.Random(6)
    rows = [(numbers.uniform(0, 4e7), numbers.uniform(0.01, 400)) for _ in range(1000)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT power(1 + %s::float8 * (s / 86400) / d, -%s::float8) "
            "FROM unnest(%s::float8[], %s::float8[]) WITH ORDINALITY AS row(s, d, n) ORDER BY n",
            [fsrs_memory.FACTOR, fsrs_memory.DECAY, [r[0] for r in rows], [r[1] for r in rows]],
        )
        by_sql = [value for (value,) in cursor.fetchall()]
    by_python = [
        fsrs_memory.retrievability(elapsed=timedelta(seconds=seconds), stability_days=days)
        for seconds, days in rows
    ]
    assert by_python == pytest.approx(by_sql, rel=1e-9)


def test_a_new_episode_has_the_librarys_state_after_a_first_good() -> None:
    theirs, _ = LIBRARY.review_card(fsrs.Card(), fsrs.Rating.Good, NOW)
    ours = fsrs_memory.initial_state(surprise=0.0, at=NOW)
    assert (ours.stability, ours.difficulty) == (theirs.stability, theirs.difficulty)


def test_surprise_makes_a_new_episode_up_to_half_again_as_stable() -> None:
    plain = fsrs_memory.initial_state(surprise=0.0, at=NOW)
    shock = fsrs_memory.initial_state(surprise=1.0, at=NOW)
    assert shock.stability == pytest.approx(1.5 * plain.stability)
    assert shock.difficulty == plain.difficulty


@pytest.mark.parametrize("rating", list(Rating))
@pytest.mark.parametrize("elapsed", [timedelta(minutes=5), timedelta(days=1), timedelta(days=90)])
def test_a_review_leaves_the_librarys_state(rating: Rating, elapsed: timedelta) -> None:
    state = MemoryState(stability=4.2, difficulty=6.1)
    number = {"again": 1, "hard": 2, "good": 3, "easy": 4}[rating.value]
    theirs, _ = LIBRARY.review_card(card(state, NOW - elapsed), fsrs.Rating(number), NOW)
    ours = fsrs_memory.reviewed_state(
        state=state, last_reviewed_at=NOW - elapsed, rating=rating, at=NOW
    )
    assert (ours.stability, ours.difficulty) == (theirs.stability, theirs.difficulty)

"""The weight of single messages."""

from __future__ import annotations

import math

import pytest

from retrieval.packing import weigh


def test_the_higher_score_weighs_more() -> None:
    assert weigh(score=2, retrievability=1) > weigh(score=1, retrievability=1)


def test_who_is_asked_about_and_what_a_fact_says_move_up() -> None:
    plain = weigh(score=1, retrievability=1)
    named = weigh(score=0.5, retrievability=1, is_named=True)
    assert named > plain > weigh(score=0.4, retrievability=1)
    says_best_fact = weigh(score=0.4, retrievability=1, fact_rank=1)
    says_lesser_fact = weigh(score=0.5, retrievability=1, fact_rank=40)
    assert says_best_fact > plain > says_lesser_fact


def test_what_was_said_on_the_days_asked_for_moves_up() -> None:
    near = weigh(score=0, retrievability=1, closeness=1)
    assert near > weigh(score=1, retrievability=1)


def test_of_the_days_asked_for_what_is_unlike_the_question_loses_little() -> None:
    unlike = weigh(score=-8, retrievability=1, closeness=1)
    assert unlike > weigh(score=3, retrievability=1)
    assert unlike < weigh(score=-1, retrievability=1, closeness=1)


def test_what_is_no_longer_true_moves_down() -> None:
    over = weigh(score=2, retrievability=1, is_over=True)
    assert over == pytest.approx(weigh(score=0, retrievability=1))


def test_what_is_half_forgotten_loses_the_logarithm_of_it() -> None:
    weight = weigh(score=1, retrievability=0.5, is_named=True, fact_rank=11)
    assert weight == pytest.approx(1 + math.log(0.5) + 0.8 + 1.25 / 2)


def test_what_is_forgotten_entirely_still_has_a_place() -> None:
    assert math.isfinite(weigh(score=1, retrievability=0))

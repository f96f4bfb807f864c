"""The order of single messages."""

from __future__ import annotations

import math

import pytest

from retrieval import lines
from retrieval.lines import Candidate


def candidate(
    seq: int, score: float, speaker: str = "Mira", retrievability: float = 1
) -> Candidate:
    return Candidate(seq=seq, speaker=speaker, score=score, retrievability=retrievability)


def test_the_higher_score_comes_first_and_the_earlier_of_equals() -> None:
    ranked = lines.rank(
        [candidate(3, 1), candidate(2, 1), candidate(1, 2)], named=frozenset(), fact_ranks={}
    )
    assert ranked == [1, 2, 3]


def test_who_is_asked_about_and_what_a_fact_says_move_up() -> None:
    rows = [candidate(1, 1), candidate(2, 0.5, "Jonas"), candidate(3, 0.4)]
    assert lines.rank(rows, named=frozenset({"Jonas"}), fact_ranks={}) == [2, 1, 3]
    assert lines.rank(rows, named=frozenset(), fact_ranks={3: 1, 2: 40}) == [3, 1, 2]


def test_what_was_said_on_the_days_asked_for_moves_up() -> None:
    near = Candidate(seq=2, speaker="Mira", score=0, retrievability=1, closeness=1)
    assert lines.rank([candidate(1, 1), near], named=frozenset(), fact_ranks={}) == [2, 1]


def test_what_is_half_forgotten_loses_the_logarithm_of_it() -> None:
    weight = lines.weigh(candidate(1, 1, retrievability=0.5), is_named=True, fact_rank=11)
    assert weight == pytest.approx(1 + math.log(0.5) + 0.8 + 1.25 / 2)


def test_what_is_forgotten_entirely_still_has_a_place() -> None:
    assert math.isfinite(
        lines.weigh(candidate(1, 1, retrievability=0), is_named=False, fact_rank=None)
    )

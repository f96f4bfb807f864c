"""What a model's partition must be, and which wrong ones can be mended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic.partition import is_partition, mend_partition


@pytest.mark.parametrize(
    ("runs", "whole"),
    [
        ([(0, 4)], True),
        ([(0, 1), (2, 4)], True),
        ([(0, 3)], False),
        ([(0, 1), (3, 4)], False),
        ([(0, 2), (2, 4)], False),
        ([(1, 4)], False),
        ([(2, 4), (0, 1)], False),
        ([], False),
    ],
)
def test_a_partition_covers_every_line_once(runs: list[tuple[int, int]], whole: bool) -> None:
    assert is_partition(runs, count=5) is whole


def test_starts_that_rise_are_kept_and_ends_are_derived() -> None:
    assert mend_partition([(1, 2), (4, 4), (6, 8)], count=10) == [(0, 3), (4, 5), (6, 9)]


@pytest.mark.parametrize(
    "runs", [[], [(0, 3), (2, 1), (1, 9)], [(0, 3), (12, 14)], [(-1, 9)], [(0, 1), (2, 3)]]
)
def test_what_does_not_rise_or_stops_half_way_is_not_mended(runs: list[tuple[int, int]]) -> None:
    assert mend_partition(runs, count=10) is None


@given(st.lists(st.tuples(st.integers(-3, 30), st.integers(-3, 30)), max_size=8))
def test_whatever_is_mended_is_a_partition(runs: list[tuple[int, int]]) -> None:
    mended = mend_partition(runs, count=20)
    assert mended is None or is_partition(mended, count=20)

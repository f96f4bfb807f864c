"""What a model's partition must be, and which wrong ones can be mended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic.llm.partition import read_partition


@pytest.mark.parametrize(
    ("ends", "runs"),
    [
        ([9], [(0, 9)]),
        ([3, 9], [(0, 3), (4, 9)]),
        ([4, 10], [(0, 3), (4, 9)]),
        ([3, 7], [(0, 3), (4, 9)]),
        ([3, 10**30], [(0, 3), (4, 9)]),
    ],
    ids=["one", "two", "counted from one", "an early end", "a huge end"],
)
def test_each_run_begins_where_the_one_before_ends(
    ends: list[int], runs: list[tuple[int, int]]
) -> None:
    assert read_partition(ends, count=10) == runs


@pytest.mark.parametrize("ends", [[], [3, 2, 9], [3, 3, 9], [-1, 9], [1, 3], [9, 9]])
def test_what_does_not_rise_or_stops_half_way_is_none(ends: list[int]) -> None:
    assert read_partition(ends, count=10) is None


def test_two_messages_are_one_run() -> None:
    assert read_partition([0, 1], count=2) == [(0, 1)]


@given(st.lists(st.integers(-3, 30), max_size=8), st.integers(0, 20))
def test_whatever_is_read_covers_every_line_once(ends: list[int], count: int) -> None:
    runs = read_partition(ends, count=count) or []
    covered = [line for first, last in runs for line in range(first, last + 1)]
    assert covered == (list(range(count)) if runs else [])

"""How well guessed segment boundaries fit the true ones. Pure formulas.

A dialogue's boundaries are the 0-based indexes of each segment's last utterance but
the final one: the last utterance ends a segment in any case and never counts.
Protocol: SuperDialseg (Jiang et al., 2023), each figure a dialogue, then the mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What is true and what was guessed of a dialogue of `utterances` utterances."""

    utterances: int
    true: frozenset[int]
    guessed: frozenset[int]


@dataclass(frozen=True, slots=True)
class BoundaryScore:
    """Means over `dialogues` dialogues, all 0.0..1.0; of `pk` and `window_diff` less is better."""

    dialogues: int
    pk: float
    window_diff: float
    f1: float

    @property
    def score(self) -> float:
        """SuperDialseg's summary: half F1, a quarter each for 1 - Pk and 1 - WindowDiff."""
        return self.f1 / 2 + (1 - self.pk) / 4 + (1 - self.window_diff) / 4


def window_length(*, utterances: int, true: Collection[int]) -> int:
    """Return half the mean length of a true segment, 2 at least; halves round to even."""
    return max(2, round(utterances / (len(true) + 1) / 2))


def count_in_windows(boundaries: Collection[int], *, utterances: int, length: int) -> list[int]:
    """Return how many boundaries lie in each window of `length` utterances, from the left."""
    return [
        sum(start <= boundary < start + length for boundary in boundaries)
        for start in range(utterances - length + 1)
    ]


def pk(case: Boundaries) -> float:
    """Return the share of windows where one side has a boundary and the other has none.

    Source: Beeferman, Berger and Lafferty (1999).
    """
    true, guessed = _windows(case)
    return fmean((a > 0) != (b > 0) for a, b in zip(true, guessed, strict=True))


def window_diff(case: Boundaries) -> float:
    """Return the share of windows whose numbers of boundaries differ.

    Source: Pevzner and Hearst (2002).
    """
    true, guessed = _windows(case)
    return fmean(a != b for a, b in zip(true, guessed, strict=True))


def f1(case: Boundaries) -> float:
    """Return the harmonic mean of precision and recall; 0.0 where nothing was to be found."""
    total = len(case.true) + len(case.guessed)
    return 2 * len(case.true & case.guessed) / total if total else 0.0


def mean_score(cases: Sequence[Boundaries]) -> BoundaryScore:
    """Return the means over the dialogues that hold a window; zeros where none does."""
    long_enough = [case for case in cases if case.utterances >= _length(case)]
    if not long_enough:
        return BoundaryScore(dialogues=0, pk=0.0, window_diff=0.0, f1=0.0)
    return BoundaryScore(
        dialogues=len(long_enough),
        pk=fmean(map(pk, long_enough)),
        window_diff=fmean(map(window_diff, long_enough)),
        f1=fmean(map(f1, long_enough)),
    )


def _length(case: Boundaries) -> int:
    return window_length(utterances=case.utterances, true=case.true)


def _windows(case: Boundaries) -> tuple[list[int], list[int]]:
    size, length = case.utterances, _length(case)
    return (
        count_in_windows(case.true, utterances=size, length=length),
        count_in_windows(case.guessed, utterances=size, length=length),
    )

"""How well predicted segment boundaries fit the true ones. Pure formulas.

A dialogue's boundaries are the 0-based indexes of each segment's last utterance but
the final one: the last utterance ends a segment in any case and never counts.
Protocol: SuperDialseg (Jiang et al., 2023), each figure a dialogue, then the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LABELS = ("dialogues", "Pk", "WindowDiff", "F1", "Score")


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What is true and what was predicted of a dialogue of `utterances` utterances."""

    utterances: int
    true: frozenset[int]
    predicted: frozenset[int]

    @property
    def window(self) -> int:
        """Half the mean length of a true segment, 2 at least; halves round to even."""
        return max(2, round(self.utterances / (len(self.true) + 1) / 2))


def compare(case: Boundaries) -> tuple[float, float, float]:
    """Return Pk, WindowDiff and F1 of a dialogue that is no shorter than its window.

    Pk is the share of windows where one side has a boundary and the other has none
    (Beeferman, Berger and Lafferty, 1999), WindowDiff of those whose numbers of
    boundaries differ (Pevzner and Hearst, 2002). F1 is 0.0 where there is nothing.
    """
    true, predicted = (
        np.convolve(np.isin(np.arange(case.utterances), [*ends]), np.ones(case.window), "valid")
        for ends in (case.true, case.predicted)
    )
    total = len(case.true) + len(case.predicted)
    f1 = 2 * len(case.true & case.predicted) / total if total else 0.0
    return float(np.mean((true > 0) != (predicted > 0))), float(np.mean(true != predicted)), f1


def mean_score(cases: Sequence[Boundaries]) -> dict[str, float]:
    """Return the means over the dialogues that hold a window, under the names of `LABELS`.

    Score is SuperDialseg's: half F1, a quarter each for 1 - Pk and 1 - WindowDiff.
    """
    rows = [compare(case) for case in cases if case.utterances >= case.window]
    pk, window_diff, f1 = map(float, np.mean(rows, axis=0)) if rows else (0.0, 0.0, 0.0)
    score = f1 / 2 + (1 - pk) / 4 + (1 - window_diff) / 4
    figures = (len(rows), pk, window_diff, f1, score)
    return dict(zip(LABELS, figures, strict=True))

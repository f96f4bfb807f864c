"""How well drawn facts fit the wanted ones, by the closeness of their vectors. Pure formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A statement, and the ids of the turns that it is drawn from."""

    text: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Matched:
    """Counts of one or more sessions.

    `pairs` were matched one to one; `joint` of the wanted lie close enough to some fact
    that is drawn from one of the same turns.
    """

    drawn: int
    wanted: int
    pairs: int
    joint: int


@dataclass(frozen=True, slots=True)
class FactScore:
    """Figures over all sessions, 0.0..1.0; `facts_per_wanted` may be more."""

    drawn: int
    wanted: int
    precision: float
    recall: float
    f1: float
    joint: float
    facts_per_wanted: float


def match_facts(
    drawn: Sequence[SourcedText],
    wanted: Sequence[SourcedText],
    *,
    cosines: npt.NDArray[np.float32],
    least_cosine: float,
) -> Matched:
    """Count the matches of one session; `cosines` has a row for each fact drawn."""
    close = cosines >= least_cosine
    joint = sum(
        any(close[i, j] and fact.turns & target.turns for i, fact in enumerate(drawn))
        for j, target in enumerate(wanted)
    )
    pairs = len(pair_closest(cosines, least_cosine=least_cosine))
    return Matched(drawn=len(drawn), wanted=len(wanted), pairs=pairs, joint=joint)


def pair_closest(cosines: npt.NDArray[np.float32], *, least_cosine: float) -> list[tuple[int, int]]:
    """Return (row, column) pairs, the closest first; each row and column is used once."""
    rows, columns = np.nonzero(cosines >= least_cosine)
    order = np.argsort(-cosines[rows, columns], kind="stable")
    pairs: list[tuple[int, int]] = []
    used_rows: set[int] = set()
    used_columns: set[int] = set()
    for at in order:
        row, column = int(rows[at]), int(columns[at])
        if row not in used_rows and column not in used_columns:
            pairs.append((row, column))
            used_rows.add(row)
            used_columns.add(column)
    return pairs


def score_matches(sessions: Sequence[Matched]) -> FactScore:
    """Return the figures over the sums of all sessions; 0.0 where nothing was drawn or wanted."""
    drawn = sum(session.drawn for session in sessions)
    wanted = sum(session.wanted for session in sessions)
    pairs = sum(session.pairs for session in sessions)
    return FactScore(
        drawn=drawn,
        wanted=wanted,
        precision=pairs / max(drawn, 1),
        recall=pairs / max(wanted, 1),
        f1=2 * pairs / max(drawn + wanted, 1),
        joint=sum(session.joint for session in sessions) / max(wanted, 1),
        facts_per_wanted=drawn / max(wanted, 1),
    )

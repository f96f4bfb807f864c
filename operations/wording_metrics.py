"""How well titles and summaries fit the true ones, how surprise is spread. Pure formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

WORD = re.compile(r"\w+")
TITLE_WORDS = range(5, 16)
MOST_SUMMARY_WORDS = 50
KEY_MOMENT, FLASHBULB = 0.7, 0.85


@dataclass(frozen=True, slots=True)
class Wording:
    """A true topic against the episode nearest to it; shares and cosines up to 1.0.

    `shared_lines` is how much of both they share; None: the topic has no summary.
    """

    shared_lines: float
    title_cosine: float
    title_words: int
    summary_cosine: float | None
    summary_rouge_l: float | None
    summary_words: int


@dataclass(frozen=True, slots=True)
class WordingScore:
    """Means over `topics` topics; None: no topic has a summary."""

    topics: int
    shared_lines: float
    title_cosine: float
    titles_of_5_to_15_words: float
    summary_cosine: float | None
    summary_rouge_l: float | None
    summaries_of_1_to_50_words: float


@dataclass(frozen=True, slots=True)
class SurpriseLevels:
    """How surprising episodes are: the median, and the shares from 0.7 and from 0.85."""

    episodes: int
    median_surprise: float
    key_moments: float
    flashbulbs: float


def rouge_l(wanted: str, made: str) -> float:
    """Return the F1 of the longest common run of words, gaps allowed, in lower case.

    Source: Lin (2004), with equal weight for precision and recall.
    """
    left, right = WORD.findall(wanted.lower()), WORD.findall(made.lower())
    if not left or not right:
        return 0.0
    return 2 * _common_length(left, right) / (len(left) + len(right))


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for word in left:
        previous, row = row, [0]
        for column, other in enumerate(right, start=1):
            longer = max(previous[column], row[-1])
            row.append(previous[column - 1] + 1 if word == other else longer)
    return row[-1]


def mean_wording(cases: Sequence[Wording]) -> WordingScore:
    """Return the means; there is at least one case."""
    return WordingScore(
        topics=len(cases),
        shared_lines=fmean(case.shared_lines for case in cases),
        title_cosine=fmean(case.title_cosine for case in cases),
        titles_of_5_to_15_words=fmean(case.title_words in TITLE_WORDS for case in cases),
        summary_cosine=_mean([case.summary_cosine for case in cases]),
        summary_rouge_l=_mean([case.summary_rouge_l for case in cases]),
        summaries_of_1_to_50_words=fmean(
            0 < case.summary_words <= MOST_SUMMARY_WORDS for case in cases
        ),
    )


def spread_surprise(values: Sequence[float]) -> SurpriseLevels:
    """Return how the surprise of at least one episode is spread."""
    return SurpriseLevels(
        episodes=len(values),
        median_surprise=median(values),
        key_moments=fmean(value >= KEY_MOMENT for value in values),
        flashbulbs=fmean(value >= FLASHBULB for value in values),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None

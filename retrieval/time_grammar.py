"""Builds the patterns that read a question's times, from the words of its language.

A time that was read already is a mark: one private-use character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

from memoryproject.process.tables import read_table
from memoryproject.text.date_meanings import MONTHS, NUMBERS, WEEKDAYS
from memoryproject.text.date_phrases import CJK, WORD, Language, get_languages
from retrieval import time_meanings as meanings
from retrieval.question import Span

EARLIEST, LATEST = 1, -1
"""Which of several times the question asks for."""
MARKS = "\ue000-\uefff"
T, U = f"(?P<t>[{MARKS}])", f"(?P<u>[{MARKS}])"
YEAR = r"(?P<year>(?:19|20)\d\d)\b"
PARTS = {
    "end": (3 / 4, 1.0),
    "start": (0.0, 1 / 4),
    "early": (0.0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "late": (2 / 3, 1.0),
}
"""Shares of a month, a season or a year; longer phrases come first."""
HALVES = (0.0, 1 / 2), (1 / 2, 1.0)
UNIT_DAYS = (1, 7, 30, 365)
ENGLISH_UNITS = ("days?", "weeks?", "months?", "years?")
CJK_UNITS = ("天|日間?", "周|星期|週間", "个?月|ヶ月", "年")
NAMES = "march|april|may|june|august"
"""English months that are also first names or other words: alone they are not read as months."""
WORDS = "march|may"
"""Months that are also other words: after a preposition they need a capital letter."""

Read = Callable[..., Span | None]


class Pattern(NamedTuple):
    """What to find and its meaning; the group `time` of the match is the part that was read."""

    regex: re.Pattern[str]
    meaning: Read
    is_bound: bool = False
    """Whether a yearly time means its latest occurrence here."""


@dataclass(slots=True)
class Grammar:
    """The patterns of a language, by step, in the order in which they are applied."""

    exact: list[Pattern] = field(default_factory=list)
    """Years, months, seasons and quarters that a preposition or a year makes unambiguous."""
    around: list[Pattern] = field(default_factory=list)
    """Words that change a time beside them."""
    relative: list[Pattern] = field(default_factory=list)
    """Times counted from the moment of asking."""
    bare: list[Pattern] = field(default_factory=list)
    """Months by themselves."""
    orders: list[tuple[int, re.Pattern[str]]] = field(default_factory=list)
    """Words that ask for the first or the last of several times."""


@cache
def grammar_of(language: Language | None, *, is_cjk: bool = False) -> Grammar:
    """Return the patterns of a language; None: English, or Chinese and Japanese."""
    words = _read_words()[language.code if language else "cjk" if is_cjk else "en"]
    names = _Names(
        numbers=language.numbers if language else NUMBERS,
        units=language.units if language else CJK_UNITS if is_cjk else ENGLISH_UNITS,
        weekdays=language.weekdays if language else () if is_cjk else WEEKDAYS,
        weekend=language.weekend if language else "周末|週末" if is_cjk else "weekend",
        months=language.months if language else () if is_cjk else MONTHS,
        seasons=words["seasons"].split(),
        few=words["few"],
        edge="" if is_cjk else r"\b",
    )
    grammar = Grammar(
        exact=list(_find_exact(words, names)),
        around=list(_find_around(words, names, is_behind=is_cjk)),
        relative=list(_find_relative(words, names)),
    )
    for number, month in enumerate(names.months, start=1):
        if language or month.lower() not in NAMES.split("|"):
            grammar.bare.append(_compile(rf"(?<!\d )\b{month}\b", partial(meanings.month, number)))
    for order, key in ((EARLIEST, "first"), (LATEST, "latest")):
        regex = rf"{names.edge}(?:{words[key]}){names.edge}"
        grammar.orders.append((order, re.compile(regex, re.IGNORECASE)))
    return grammar


@cache
def _read_words() -> dict[str, dict[str, Any]]:
    return read_table(__file__, "question_times")


@cache
def _known_by() -> dict[str, frozenset[str]]:
    """Return the words that identify a question's language, by its code."""
    known = {code: set(words["known_by"].split()) for code, words in _read_words().items()}
    for language in get_languages():
        names = {name.lower() for name in (*language.months, *language.weekdays)}
        known[language.code] |= language.known_by | names - {name.lower() for name in MONTHS}
    return {code: frozenset(words) for code, words in known.items()}


def find_question_language(question: str) -> Language | None:
    """Return even a short question's language; None: English, Chinese, Japanese, others."""
    words = [word.lower() for word in WORD.findall(question)]
    counts = {code: sum(word in known for word in words) for code, known in _known_by().items()}
    best = max(get_languages(), key=lambda language: counts[language.code])
    is_sure = counts[best.code] > counts["en"] and not CJK.search(question)
    return best if is_sure else None


@dataclass(frozen=True, kw_only=True)
class _Names:
    """Patterns of a language's names of units."""

    numbers: Sequence[str]
    units: Sequence[str]
    """Day, week, month, year."""
    weekdays: Sequence[str]
    weekend: str
    months: Sequence[str]
    seasons: Sequence[str]
    few: str
    edge: str
    """Separator between words."""

    @property
    def count(self) -> str:
        """A number before a unit, which may be missing."""
        numbers = "|".join(self.numbers)
        return rf"(?:(?P<n>\d{{1,3}}|{numbers}|(?:an? )?(?:{self.few}))\s*)?"


def _compile(regex: str, meaning: Read, *, is_bound: bool = False) -> Pattern:
    return Pattern(re.compile(regex, re.IGNORECASE), meaning, is_bound)


def _find_exact(words: dict[str, Any], names: _Names) -> Iterator[Pattern]:
    of, preposition = words["of"], words["preposition"]
    for index, season in enumerate(names.seasons):
        of_year = rf"\s+(?:{of}\s+)?{YEAR}"
        meaning = partial(meanings.season, index)
        yield _compile(rf"{names.edge}(?:{season}){of_year}", meaning)
    yield _compile(rf"\bQ(?P<q>[1-4])\b(?:\s*(?:{of}\s+)?{YEAR})?", meanings.quarter)
    if preposition:
        before = rf"\b{preposition}(?:\s+|(?<=[’-]))"
        yield _compile(rf"{before}(?P<time>{YEAR})(?![.,]\d)", meanings.year)
        for number, month in enumerate(names.months, start=1):
            sure = rf"(?:(?!(?:{WORDS})\b)|(?-i:(?=[A-Z])))"
            meaning = partial(meanings.month, number)
            yield _compile(rf"{before}{sure}(?P<time>{month})\b", meaning)


def _find_around(words: dict[str, Any], names: _Names, *, is_behind: bool) -> Iterator[Pattern]:
    """Yield patterns that change times; `is_behind`: their words come after the time."""

    def beside(word: str) -> str:
        return rf"{T}\s*(?:{word})" if is_behind else rf"\b(?:{word})[\s-]*{T}"

    of, edge = words["of"], names.edge
    for index, season in enumerate(names.seasons):
        text = rf"{T}\s*{of}\s*(?:{season})" if is_behind else rf"\b(?:{season})\s+(?:{of}\s+)?{T}"
        yield _compile(text, partial(meanings.season_of, index))
    for share, half in zip(HALVES, words["half"], strict=True):
        yield _compile(beside(half), partial(meanings.part, share))
    day, week = names.units[:2]
    for number, nth in zip((1, 2, 3, 4, meanings.LAST), words["nth"], strict=True):
        unit = rf"(?:{nth})\s*{names.count}(?:(?P<week>{week})|{day})"
        regex = rf"{T}{of}{unit}" if is_behind else rf"\b{unit}\s*{of}\s*{T}"
        yield _compile(regex, partial(meanings.nth, number, names.numbers))
        if number != meanings.LAST:
            unit = rf"(?:{nth})\s*(?:{words['quarter']})"
            regex = rf"{T}{of}{unit}" if is_behind else rf"\b{unit}\s*{of}\s*{T}"
            yield _compile(regex, partial(meanings.nth_quarter, number))
    for key, share in PARTS.items():
        yield _compile(beside(words[key]), partial(meanings.part, share))
    for first, then in (words["between"], words["from"]):
        yield _compile(rf"{edge}(?:{first})\s*{T}\s*(?:{then})\s*{U}", meanings.between)
    yield _compile(rf"{T}\s*[–-]\s*{U}", meanings.between)
    for sign, key in ((-1, "before"), (1, "after")):
        units = (*zip(UNIT_DAYS, names.units, strict=True), (UNIT_DAYS[1], names.weekend))
        for unit_days, unit in units:
            last = rf"(?:(?:{words['nth'][-1]})\s+)?"
            regex = rf"{edge}{last}{names.count}(?:{unit})\s+{beside(words[key])}"
            meaning = partial(meanings.lead_to, sign, unit_days, names.numbers)
            yield _compile(regex, meaning, is_bound=True)
        for number, weekday in enumerate(names.weekdays):
            meaning = partial(meanings.lead_to_weekday, sign, number)
            yield _compile(rf"\b{weekday}\s+{beside(words[key])}", meaning, is_bound=True)
    for key in ("before", "after", "since", "until"):
        yield _compile(beside(words[key]), getattr(meanings, key), is_bound=True)


def _find_relative(words: dict[str, Any], names: _Names) -> Iterator[Pattern]:
    for unit_days, unit in zip(UNIT_DAYS, names.units, strict=True):
        regex = words["recent"].replace("{n}", names.count).replace("{unit}", f"(?:{unit})")
        meaning = partial(meanings.recent, unit_days, names.numbers)
        yield _compile(f"{names.edge}{regex}{names.edge}", meaning)
    for number, weekday in enumerate(names.weekdays):
        regex = words["weekday"].replace("{x}", weekday)
        yield _compile(rf"\b{regex}\b", partial(meanings.weekday, number))
    if "day_of_month" in words:
        regex = words["day_of_month"].replace("{d}", r"(?P<day>\d{1,2})")
        yield _compile(rf"\b{regex}", meanings.day_of_month)
    for index, season in enumerate(names.seasons if words["preposition"] else ()):
        regex = rf"\b{words['preposition']}(?:\s+|(?<=’))(?P<time>{season})\b(?P<year>)"
        yield _compile(regex, partial(meanings.season, index))

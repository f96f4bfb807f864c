"""Reads speakers and dates from a question, and measures how close a day is to the dates.

The meaning of "last May" depends on when it is asked, so relative phrases are first resolved by the
day of the question; then the dates are read from that text. A phrase that cannot be resolved
("before the move") is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from indexing.text import stands_in
from memoryproject.text.date_phrases import get_languages
from memoryproject.text.dates import MONTHS
from retrieval import tuning


def speakers_named(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers whose name, or its first word, is in the question."""
    asked = question.casefold()
    return frozenset(speaker for speaker in set(speakers) if _names(asked, speaker.casefold()))


def _names(asked: str, speaker: str) -> bool:
    return any(stands_in(name, asked) for name in {speaker, *speaker.split()[:1]} if name)


LONGEST_NAMED_DAYS = 31
"""Length of the longest span whose days a text is taken to name; a year is longer."""
ANY_YEAR = 2000
"""Year used in the ends of a span that recurs every year. It has a February 29."""

_ENGLISH_MONTHS = [f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS]
_OTHER_MONTHS = {
    name.lower(): number
    for language in get_languages()
    for number, name in enumerate(language.months, start=1)
}
_MONTH = rf"(?P<month>{'|'.join([*_OTHER_MONTHS, *_ENGLISH_MONTHS, 'sept'])})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DAY = r"\b(?P<day>\d{1,2})(?:st|nd|rd|th|er|º)?"
_TO = r"\s*(?:[–-]|\b(?:to|and|until|till|bis|und|al?|y|e|et|au|ao|tot|en)\b)\s*(?P<to>\d{1,2})"
_OF = r"(?:\s+(?:of|de|di))?"
_OF_YEAR = rf"(?:,?\s+(?:del?\s+)?{_YEAR})"
_RULES = tuple(  # the more exact first
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rf"\b{_YEAR}[-/](?P<month>\d\d)[-/](?P<day>\d\d)\b",
        rf"{_DAY}\.?(?:{_OF}\s+(?P<from_month>[^\W\d_]+))?{_TO}(?:st|nd|rd|th|\.)?{_OF}\s+{_MONTH}{_OF_YEAR}?",
        rf"{_DAY}\.?{_OF}\s+{_MONTH}{_OF_YEAR}?",
        rf"\b(?P<month>\d{{1,2}})/(?P<day>1[3-9]|2\d|3[01])/{_YEAR}",
        rf"\b(?P<day>1[3-9]|2\d|3[01])/(?P<month>\d{{1,2}})/{_YEAR}",
        rf"\b(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!:)(?:\s?[–-]\s?(?P<to>\d{{1,2}})\b)?(?:,?\s*{_YEAR})?",
        rf"\b{_MONTH}(?:,|\s+of|\s+del?)?\s+{_YEAR}",
        rf"\b(?:in|im|en|em|during|since|until|till|early|late|mid)[\s-]+{_MONTH}",
        rf"(?:\b(?:in|during|of|since|until|till|by|year|en|em|del?)\s+|\(){_YEAR}",
        r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?",
        r"(?P<year>\d{4})年",
    )
)
_MAY_HOLD_A_DATE = re.compile(
    r"\b" + _MONTH.replace("?P<month>", "?:") + r"|\d{4}|\d月", re.IGNORECASE
)
_MONTHS_OF_A_RULE = {"month", "from_month"}
_MONTH_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of days, both ends included; if `yearly`, of each year, written with ANY_YEAR."""

    first: date
    last: date
    yearly: bool = False

    def days_off(self, other: Span) -> int:
        """Return how many days lie between two spans; 0 if they overlap."""
        if self.yearly and not other.yearly:
            years = range(other.first.year - 1, other.last.year + 2)
            return min(_distance(self.in_year(year), other) for year in years)
        if other.yearly and not self.yearly:
            return other.days_off(self)
        return _distance(self, other)

    def in_year(self, year: int) -> Span:
        """Return the span in one year."""
        day = self.first if (self.first.month, self.first.day) != (2, 29) else date(ANY_YEAR, 2, 28)
        first = day.replace(year=year)
        return Span(first, first + (self.last - self.first))

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1


class Dated(NamedTuple):
    """The position in a text of a date, without the preposition before it."""

    start: int
    end: int
    span: Span


def find_dates(text: str) -> list[Dated]:
    """Return the dates, months and years that a text names, in order."""
    if not _MAY_HOLD_A_DATE.search(text):
        return []
    dates: list[Dated] = []
    for rule in _RULES:
        for match in rule.finditer(text):
            span = _span_or_none(match)
            start, end = min(match.start(name) for name, part in _named(match)), match.end()
            if span is not None and all(end <= one.start or one.end <= start for one in dates):
                dates.append(Dated(start, end, span))
    return sorted(dates, key=lambda one: one.start)


def days_named(text: str) -> tuple[Span, ...]:
    """Return the days that a text names by date, in order; relative phrases do not count."""
    return drop_repeated(one.span for one in find_dates(text))


def drop_repeated(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans without yearly ones that another span repeats with its year."""
    spans = list(spans)
    dated = [span for span in spans if not span.yearly]
    return tuple(
        span
        for span in spans
        if not (span.yearly and any(span.days_off(other) == 0 for other in dated))
    )


def closeness(asked: Iterable[Span], *, on: date, named: Iterable[Span] = ()) -> float:
    """Return how close a memory of the day `on` is to the days asked for.

    1.0 on these days, or if the memory names them; FEW_DAYS_SHARE if they are few; less with each
    day in between, 0.0 from two weeks on.
    """
    spans = [Span(on, on), *(span for span in named if span.days <= LONGEST_NAMED_DAYS)]
    return max((_closeness(wanted, span) for wanted in asked for span in spans), default=0.0)


def _closeness(wanted: Span, span: Span) -> float:
    off = wanted.days_off(span)
    if off:
        return max(0.0, 1 - off / tuning.FADES_IN_DAYS)
    return tuning.FEW_DAYS_SHARE if wanted.days <= tuning.FEW_DAYS else 1.0


def _distance(one: Span, other: Span) -> int:
    return max((one.first - other.last).days, (other.first - one.last).days, 0)


def _named(match: re.Match[str]) -> list[tuple[str, str]]:
    """Return the named groups of a date that a rule matched."""
    return [(name, text) for name, text in match.groupdict().items() if text]


def _span_or_none(match: re.Match[str]) -> Span | None:
    parts = dict(_named(match))
    try:
        months = {name: _month(parts.pop(name)) for name in _MONTHS_OF_A_RULE & parts.keys()}
        return _to_span(**months, **{name: int(text) for name, text in parts.items()})
    except (KeyError, OverflowError, ValueError):  # no such month, or 31 February
        return None


def _month(word: str) -> int:
    """Return the number of a month.

    Raises:
        KeyError: there is none of that name.
    """
    word = word.lower()
    if word.isdigit():
        return int(word)
    return _OTHER_MONTHS.get(word) or _MONTH_NUMBERS[word[:3]]


def _to_span(
    *,
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
    to: int | None = None,
    from_month: int | None = None,
) -> Span:
    stands_in = ANY_YEAR if year is None else year
    if month is None:
        return Span(date(stands_in, 1, 1), date(stands_in, 12, 31))
    if day is None:
        return Span(date(stands_in, month, 1), _month_end(stands_in, month), year is None)
    last = date(stands_in, month, to or day)
    first = date(stands_in, from_month or month, day)
    if first > last:  # 30 December–5 January 2024
        first = first.replace(year=stands_in - 1)
    return Span(first, last, year is None)


def _month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)

"""Reads speakers and days out of a question, and measures how close a day is to them.

A question's "last May" means another month every year, so relative phrases are anchored
to the day of the question first; the dates are then read from the anchored text. What
cannot be placed ("before the move") names no day, and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from indexing.text import UNSPACED
from memoryproject.text.dates import MONTHS, anchor_times


def speakers_named(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return those of the speakers whose name, or its first word, stands in the question."""
    asked = question.casefold()
    return frozenset(speaker for speaker in set(speakers) if _names(asked, speaker.casefold()))


def _names(asked: str, speaker: str) -> bool:
    return any(_stands_in(name, asked) for name in {speaker, *speaker.split()[:1]} if name)


def _stands_in(name: str, asked: str) -> bool:
    """Return whether a name is there as a whole word; some scripts do not part their words."""
    if UNSPACED.search(name):
        return name in asked
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked) is not None


FADES_IN_DAYS = 14
"""People tell of a day some days later, and of a plan some days before."""
LONGEST_NAMED_DAYS = 31
"""A text that names a whole year names none of its days."""
ANY_YEAR = 2000
"""Stands in the ends of a span that comes back every year. It has a 29 February."""

_MONTH = (
    "(?P<month>"
    + "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
    + r"|sept)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DAY = r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_RULES = tuple(  # the more exact first
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rf"\b{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)\b",
        rf"{_DAY}(?:\s+(?P<from_month>[a-z]+))?[–-](?P<to>\d{{1,2}})\s+{_MONTH}\s+{_YEAR}",
        rf"{_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!:)(?:,?\s*{_YEAR})?",
        rf"\b{_MONTH}(?:,|\s+of)?\s+{_YEAR}",
        rf"\b(?:in|during|since|until|till|early|late|mid)[\s-]+{_MONTH}",
        rf"(?:\b(?:in|during|of|since|until|till|by|year)\s+|\(){_YEAR}",
        r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?",
        r"(?P<year>\d{4})年",
    )
)
_MAY_HOLD_A_DATE = re.compile(_MONTH.replace("?P<month>", "?:") + r"|\d{4}|\d月", re.IGNORECASE)
_MONTHS_OF_A_RULE = {"month", "from_month"}
_MONTH_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}


@dataclass(frozen=True, slots=True)
class Span:
    """Some days, both ends included. `yearly`: in every year, written as in ANY_YEAR."""

    first: date
    last: date
    yearly: bool = False

    def days_off(self, other: Span) -> int:
        """Return how many days lie between two spans; 0 where they share one."""
        if self.yearly and not other.yearly:
            years = range(other.first.year - 1, other.last.year + 2)
            return min(_distance(self.in_year(year), other) for year in years)
        if other.yearly and not self.yearly:
            return other.days_off(self)
        return _distance(self, other)

    def in_year(self, year: int) -> Span:
        """Return the span of one year."""
        day = self.first if (self.first.month, self.first.day) != (2, 29) else date(ANY_YEAR, 2, 28)
        first = day.replace(year=year)
        return Span(first, first + (self.last - self.first))

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.last - self.first).days + 1


def days_asked(question: str, *, at: datetime) -> tuple[Span, ...]:
    """Return the days that a question names when it is asked at `at`."""
    return days_named(anchor_times(question, at=at))


def days_named(text: str) -> tuple[Span, ...]:
    """Return the days that a text names by date, in order; relative phrases name none."""
    if not _MAY_HOLD_A_DATE.search(text):
        return ()
    matches: list[tuple[int, int, Span]] = []
    for rule in _RULES:
        for match in rule.finditer(text):
            start, end = match.span()
            span = _span_or_none(match)
            if span is not None and all(end <= one[0] or one[1] <= start for one in matches):
                matches.append((start, end, span))
    spans = [span for _, _, span in sorted(matches, key=lambda hit: hit[0])]
    dated = [span for span in spans if not span.yearly]
    return tuple(
        span
        for span in spans
        if not (span.yearly and any(span.days_off(other) == 0 for other in dated))
    )


def closeness(asked: Iterable[Span], *, on: date, named: Iterable[Span] = ()) -> float:
    """Return how close a memory of the day `on` is to the days asked for.

    1.0 on them, or where it names them itself; less with each day that lies between,
    0.0 from two weeks on.
    """
    spans = [Span(on, on), *(span for span in named if span.days <= LONGEST_NAMED_DAYS)]
    off = min((wanted.days_off(span) for wanted in asked for span in spans), default=None)
    return 0.0 if off is None else max(0.0, 1 - off / FADES_IN_DAYS)


def _distance(one: Span, other: Span) -> int:
    return max((one.first - other.last).days, (other.first - one.last).days, 0)


def _span_or_none(match: re.Match[str]) -> Span | None:
    parts = {name: text for name, text in match.groupdict().items() if text}
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
    return int(word) if word.isdigit() else _MONTH_NUMBERS[word[:3].lower()]


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

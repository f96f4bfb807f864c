"""The meaning of phrases around times: part of a time, quarter, season, bound, last days.

A function gets the match of a pattern, and the times in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from memoryproject.text import date_meanings
from memoryproject.text.date_meanings import FIRST_MONTHS, find_months, parse_count
from retrieval.question import ANY_YEAR, Span

LEAST_YEAR_DAYS, MOST_YEAR_DAYS = 365, 366
WEEK = 7
FEW = 3
"""Number that "a few" and "several" mean."""
LAST = -1
"""Number that stands for "last" in "the last week of" a time."""
LATENESS = 1.25
"""A day "two weeks before" another may lie this many times as far back."""
OPEN_PAST, OPEN_FUTURE = date(1900, 1, 1), date(2200, 1, 1)
"""Ends of the spans before a time, and after it."""

Match = re.Match[str]


def part(share: tuple[float, float], match: Match, whole: Span) -> Span | None:
    """Return a part of a time that is longer than a week."""
    if whole.days <= WEEK:
        return None
    first, end = (round(end * whole.days) for end in share)
    return _cut(whole, first, end - first)


def nth(number: int, numbers: Sequence[str], match: Match, whole: Span) -> Span | None:
    """Return "the second week" of a time, or its "last two weeks"."""
    unit = WEEK if match["week"] else 1
    count = unit * _count(match["n"], numbers)
    first = whole.days - count if number == LAST else (number - 1) * unit
    return _cut(whole, first, count) if 0 <= first < whole.days else None


def nth_quarter(number: int, match: Match, year: Span) -> Span | None:
    return _months(3 * number - 2, 3, year.first.year) if _is_year(year) else None


def season_of(index: int, match: Match, year: Span) -> Span | None:
    return _months(FIRST_MONTHS[index], 3, year.first.year) if _is_year(year) else None


def lead_to(
    sign: int, unit_days: int, numbers: Sequence[str], match: Match, time: Span
) -> Span | None:
    """Return "two weeks before" or after a time, up to the time itself, when people mention it."""
    away = round(LATENESS * unit_days * _count(match["n"], numbers))
    return _widen(time, sign * away)


def lead_to_weekday(sign: int, day: int, match: Match, time: Span) -> Span | None:
    """Return "the Sunday before" a time, up to that time."""
    if sign < 0:
        return _widen(time, -((time.first.weekday() - day - 1) % 7 + 1))
    return _widen(time, (day - time.last.weekday() - 1) % 7 + 1)


def between(match: Match, first: Span, last: Span) -> Span | None:
    """Return the days from the first time to the last; a year given once applies to both."""
    if first.yearly and not last.yearly:
        first = first.in_year(last.first.year)
    elif last.yearly and not first.yearly:
        last = last.in_year(first.first.year)
    end = last.last
    if end < first.first and first.yearly:
        end = end.replace(year=end.year + 1)
    return Span(first.first, end, first.yearly) if first.first <= end else None


def before(match: Match, time: Span) -> Span | None:
    return Span(OPEN_PAST, time.first - timedelta(days=1))


def until(match: Match, time: Span) -> Span | None:
    return Span(OPEN_PAST, time.last)


def after(match: Match, time: Span) -> Span | None:
    return Span(time.last + timedelta(days=1), OPEN_FUTURE)


def since(match: Match, time: Span) -> Span | None:
    return Span(time.first, OPEN_FUTURE)


def month(number: int, match: Match, at: date) -> Span | None:
    return _months(number, 1, None)


def year(match: Match, at: date) -> Span | None:
    return _months(1, 12, int(match["year"]))


def season(index: int, match: Match, at: date) -> Span | None:
    return _months(FIRST_MONTHS[index], 3, _year_or_none(match))


def quarter(match: Match, at: date) -> Span | None:
    return _months(3 * int(match["q"]) - 2, 3, _year_or_none(match))


def recent(unit_days: int, numbers: Sequence[str], match: Match, at: date) -> Span | None:
    """Return "the last two weeks", which end now."""
    return Span(at - timedelta(days=unit_days * _count(match["n"], numbers)), at)


def weekday(day: int, match: Match, at: date) -> Span | None:
    when = date_meanings.weekday(LAST, match, at, day=day)
    return Span(when.first, when.last)


def day_of_month(match: Match, at: date) -> Span | None:
    """Return "the 14th": its latest occurrence."""
    month = at.replace(day=1)
    if int(match["day"]) > at.day:
        month = (month - timedelta(days=1)).replace(day=1)
    day = month.replace(day=int(match["day"]))
    return Span(day, day)


def _count(word: str | None, numbers: Sequence[str]) -> int:
    if not word:
        return 1
    is_number = word.isdigit() or any(re.fullmatch(n, word, re.IGNORECASE) for n in numbers)
    return parse_count(word, numbers) if is_number else FEW


def _cut(whole: Span, first: int, days: int) -> Span:
    """Return a number of days of a time, at least one, from one of its days on."""
    start = whole.first + timedelta(days=first)
    end = start + timedelta(days=max(days, 1) - 1)
    return Span(start, min(end, whole.last), whole.yearly)


def _widen(time: Span, days: int) -> Span:
    away = timedelta(days=days)
    return Span(min(time.first, time.first + away), max(time.last, time.last + away), time.yearly)


def _is_year(time: Span) -> bool:
    return LEAST_YEAR_DAYS <= time.days <= MOST_YEAR_DAYS


def _year_or_none(match: Match) -> int | None:
    return int(match["year"]) if match["year"] else None


def _months(month: int, count: int, year: int | None) -> Span:
    number = (ANY_YEAR if year is None else year) * 12 + month - 1
    return Span(*find_months(number, count), year is None)

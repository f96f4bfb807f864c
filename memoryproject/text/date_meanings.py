"""The meaning of relative time phrases on a given day, and the printing of dates."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum, auto
from typing import NamedTuple

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FIRST_MONTHS = (3, 6, 9, 12)
"""First months of the northern seasons: spring, summer, fall and winter."""
MOST_YEARS_AWAY = 60
"""Number of years beyond which a count is a figure of speech or history, not a date."""
NUMBERS: tuple[str, ...] = (
    *("an?|one|一", "two|a couple(?: of)?|二|两", "three|三", "four|四", "five|五"),
    *("six|六", "seven|七", "eight|八", "nine|九", "ten|十"),
)

_FUTURE = re.compile(
    r"(?:\b(?:will|going to|gonna|leaving|moving|starting|due|coming|happening)|['’]ll)\b[^.!?]*$",
    re.IGNORECASE,
)
FUTURE_WITHIN = 120
"""Characters before "in two weeks" that are searched for a word of future."""


class Form(Enum):
    """The precision of a phrase, which decides how its days are printed."""

    DAY = auto()
    SPAN = auto()
    MONTH = auto()
    SEASON = auto()
    YEAR = auto()
    EITHER = auto()
    """Either the first or the last of its days."""
    ABOUT = auto()
    """A time before the last of its days."""


class When(NamedTuple):
    """The days that a phrase means, first and last, both included."""

    first: date
    last: date
    form: Form
    about: str = ""
    """Text for ABOUT, with {day}, {month} or {year}."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Printer:
    """Date formats of a language: English writes "1–7 May 2023"."""

    months: Sequence[str]
    day: str
    year: str = "{y}"
    either: str = "/"

    def render(self, when: When) -> str:
        """Return the days in the language, no more precise than `when.form`."""
        if when.form is Form.DAY:
            return self.print_day(when.first)
        if when.form is Form.SPAN:
            return self.print_span(when.first, when.last)
        if when.form is Form.MONTH:
            return self.print_month(when.first)
        if when.form is Form.YEAR:
            return self.year.format(y=when.first.year)
        if when.form is Form.EITHER:
            return f"{self.print_day(when.first)} {self.either} {self.print_day(when.last)}"
        if when.form is Form.SEASON:
            year = when.first.year
            return f"{year}/{(year + 1) % 100:02d}" if when.last.year > year else str(year)
        last = when.last
        parts = {"day": self.print_day(last), "month": self.print_month(last), "year": last.year}
        return when.about.format(**parts)

    def print_day(self, day: date) -> str:
        return self.day.format(d=day.day, month=self.months[day.month - 1], y=day.year)

    def print_span(self, first: date, last: date) -> str:
        """Return a range of days; common parts of both ends are written once."""
        start = self.print_day(first)
        if first.year == last.year and first.month == last.month:
            start = self.day.split("{month}")[0].format(d=first.day).strip().removesuffix(" de")
        elif first.year == last.year:
            start = start.rsplit(" ", 1)[0].removesuffix(" de")
        return f"{start}–{self.print_day(last)}"

    def print_month(self, day: date) -> str:
        return f"{self.months[day.month - 1]} {day.year}"


ENGLISH = Printer(months=MONTHS, day="{d} {month} {y}", either="or")


class ChinesePrinter(Printer):
    """Writes dates as 2023年5月1日至5月7日; Japanese readers understand them too."""

    def print_span(self, first: date, last: date) -> str:
        return f"{self.print_day(first)}至{last.month}月{last.day}日"

    def print_month(self, day: date) -> str:
        return f"{day.year}年{day.month}月"


CHINESE = ChinesePrinter(
    months=[str(month) for month in range(1, 13)], day="{y}年{month}月{d}日", year="{y}年"
)


Meaning = Callable[[re.Match[str], date], When | None]


class Rule(NamedTuple):
    """A pattern, and the meaning of a match in a text of a given day."""

    pattern: re.Pattern[str]
    meaning: Meaning
    printer: Printer


# -- meanings of phrases: with the arguments before `match` filled in, each is a Meaning


def days(distance: int, match: re.Match[str], at: date) -> When:
    day = at + timedelta(days=distance)
    return When(day, day, Form.DAY)


def _monday(at: date, weeks: int) -> date:
    return at + timedelta(days=7 * weeks - at.weekday())


def weeks(distance: int, match: re.Match[str], at: date) -> When:
    monday = _monday(at, distance)
    return When(monday, monday + timedelta(days=6), Form.SPAN)


def weekends(distance: int, match: re.Match[str], at: date) -> When:
    monday = _monday(at, distance)
    return When(monday + timedelta(days=5), monday + timedelta(days=6), Form.SPAN)


def months(distance: int, match: re.Match[str], at: date) -> When:
    return When(*find_months(at.year * 12 + at.month - 1 + distance), Form.MONTH)


def years(distance: int, match: re.Match[str], at: date) -> When:
    return When(*find_months((at.year + distance) * 12, 12), Form.YEAR)


def find_months(number: int, count: int = 1) -> tuple[date, date]:
    """Return the first and the last day of some months, numbered from year 0."""
    first, end = number, number + count
    next_first = date(end // 12, end % 12 + 1, 1)
    return date(first // 12, first % 12 + 1, 1), next_first - timedelta(days=1)


Unit = Callable[[int, re.Match[str], date], When]
UNITS: tuple[Unit, ...] = (days, weeks, months, years)


def season(index: int, direction: int, match: re.Match[str], at: date) -> When:
    """Return the last season that has ended, or the next that has not begun."""
    first = FIRST_MONTHS[index]
    if direction < 0:
        is_over = at.month >= first + 3  # never of winter, which ends in another year
        year = at.year if is_over else at.year - 1
        if index == 3 and at.month < 3:
            year -= 1  # last winter, said in January, is not this one
    else:
        year = at.year if at.month < first else at.year + 1
    return When(*find_months(year * 12 + first - 1, 3), Form.SEASON)


def parse_count(word: str, numbers: Sequence[str] = NUMBERS) -> int:
    """Return the number in words or digits; `numbers` are patterns, from one on."""
    word = word.lower()
    if word.isdigit():
        return int(word)
    return next(n for n, name in enumerate(numbers, start=1) if re.fullmatch(name, word))


def counted(
    unit: Unit, sign: int, match: re.Match[str], at: date, *, numbers: Sequence[str] = NUMBERS
) -> When | None:
    count = parse_count(match["n"], numbers)
    if unit is years and count > MOST_YEARS_AWAY:
        return None
    return unit(sign * count, match, at)


def if_future(unit: Unit, match: re.Match[str], at: date) -> When | None:
    """Return the date of "in two weeks" only after a word of future: else it is a duration."""
    before = match.string[max(0, match.start() - FUTURE_WITHIN) : match.start()]
    return unit(parse_count(match["n"]), match, at) if _FUTURE.search(before) else None


def around(most_days: int, words: str, match: re.Match[str], at: date) -> When:
    return When(at - timedelta(days=most_days), at, Form.ABOUT, words)


def weekday(direction: int, match: re.Match[str], at: date, *, day: int | None = None) -> When:
    """Return the last such day, the first one from today on (0), or the next one.

    English speakers disagree about "next Friday": the result has both days.
    """
    day = WEEKDAYS.index(match["day"].lower()) if day is None else day
    if direction < 0:
        return days(-((at.weekday() - day - 1) % 7 + 1), match, at)
    if direction == 0:
        return days((day - at.weekday()) % 7, match, at)
    coming = at + timedelta(days=(day - at.weekday() - 1) % 7 + 1)
    next_week = _monday(at, 1) + timedelta(days=day)
    return When(coming, next_week, Form.DAY if coming == next_week else Form.EITHER)


def named_month(direction: int, match: re.Match[str], at: date) -> When:
    month = [name.lower() for name in MONTHS].index(match["month"].lower())
    months = at.year * 12 + month
    if (months - (at.year * 12 + at.month - 1)) * direction <= 0:
        months += 12 * direction
    return When(*find_months(months), Form.MONTH)


def cjk_weekday(weeks: int, match: re.Match[str], at: date) -> When:
    day = "一二三四五六日天".index(match["day"])
    return days((_monday(at, weeks) - at).days + min(day, 6), match, at)


def cjk_month_day(months: int, match: re.Match[str], at: date) -> When:
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    day = date(year, month + 1, int(match["date"]))
    return When(day, day, Form.DAY)


def cjk_year_month(years: int, match: re.Match[str], at: date) -> When:
    word = match["month"]
    ones = "一二三四五六七八九".find(word.rpartition("十")[2] or "x") + 1
    month = int(word) if word.isdigit() else ones + 10 * ("十" in word)
    return When(*find_months((at.year + years) * 12 + month - 1), Form.MONTH)

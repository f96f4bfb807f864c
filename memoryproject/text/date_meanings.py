"""What relative time phrases mean on a given day, and how a date is printed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FIRST_MONTHS = (3, 6, 9, 12)
"""Of the northern seasons, as the words are used."""
MOST_YEARS_AWAY = 60
"""Beyond this a count of years is a figure of speech or history, not a date."""
NUMBERS: tuple[str, ...] = (
    *("an?|one|一", "two|a couple(?: of)?|二|两", "three|三", "four|四", "five|五"),
    *("six|六", "seven|七", "eight|八", "nine|九", "ten|十"),
)

_FUTURE = re.compile(
    r"(?:\b(?:will|going to|gonna|leaving|moving|starting|due|coming|happening)|['’]ll)\b[^.!?]*$",
    re.IGNORECASE,
)
FUTURE_WITHIN = 120
"""Characters before "in two weeks"."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Printer:
    """How a language writes dates: in English as in "1–7 May 2023"."""

    months: Sequence[str]
    day: str

    def print_day(self, day: date) -> str:
        return self.day.format(d=day.day, month=self.months[day.month - 1], y=day.year)

    def print_span(self, first: date, last: date) -> str:
        """Return some days; what both ends share is written once."""
        start = self.print_day(first)
        if first.year == last.year and first.month == last.month:
            start = self.day.split("{month}")[0].format(d=first.day).strip().removesuffix(" de")
        elif first.year == last.year:
            start = start.rsplit(" ", 1)[0].removesuffix(" de")
        return f"{start}–{self.print_day(last)}"

    def print_month(self, months: int) -> str:
        year, month = divmod(months, 12)
        return f"{self.months[month]} {date(year, month + 1, 1).year}"


ENGLISH = Printer(months=MONTHS, day="{d} {month} {y}")


class ChinesePrinter(Printer):
    """Dates as in 2023年5月1日至5月7日; Japanese reads them too."""

    def print_span(self, first: date, last: date) -> str:
        return f"{self.print_day(first)}至{last.month}月{last.day}日"

    def print_month(self, months: int) -> str:
        year, month = divmod(months, 12)
        return f"{date(year, month + 1, 1).year}年{month + 1}月"


CHINESE = ChinesePrinter(months=[str(month) for month in range(1, 13)], day="{y}年{month}月{d}日")


Meaning = Callable[[re.Match[str], date, Printer], str | None]


class Rule(NamedTuple):
    """A pattern, and what a match of it means for what was said on a day."""

    pattern: re.Pattern[str]
    meaning: Meaning
    printer: Printer


# -- what phrases mean: with all that stands before `match` filled in, a function is a Meaning


def days(distance: int, match: re.Match[str], at: date, printer: Printer) -> str:
    return printer.print_day(at + timedelta(days=distance))


def _monday(at: date, weeks: int) -> date:
    return at + timedelta(days=7 * weeks - at.weekday())


def weeks(distance: int, match: re.Match[str], at: date, printer: Printer) -> str:
    monday = _monday(at, distance)
    return printer.print_span(monday, monday + timedelta(days=6))


def weekends(distance: int, match: re.Match[str], at: date, printer: Printer) -> str:
    monday = _monday(at, distance)
    return printer.print_span(monday + timedelta(days=5), monday + timedelta(days=6))


def months(distance: int, match: re.Match[str], at: date, printer: Printer) -> str:
    return printer.print_month(at.year * 12 + at.month - 1 + distance)


def years(distance: int, match: re.Match[str], at: date, printer: Printer) -> str:
    year = str(date(at.year + distance, 1, 1).year)
    return f"{year}年" if printer is CHINESE else year


Unit = Callable[[int, re.Match[str], date, Printer], str]
UNITS: tuple[Unit, ...] = (days, weeks, months, years)


def season(index: int, direction: int, match: re.Match[str], at: date, printer: Printer) -> str:
    """Return the year of the last season that is over, or of the next that has not begun."""
    first = FIRST_MONTHS[index]
    if direction < 0:
        is_over = at.month >= first + 3  # never of winter, which ends in another year
        year = at.year if is_over else at.year - 1
        if index == 3 and at.month < 3:
            year -= 1  # last winter, said in January, is not this one
    else:
        year = at.year if at.month < first else at.year + 1
    return f"{year}/{(year + 1) % 100:02d}" if index == 3 else str(year)


def _count(match: re.Match[str], numbers: Sequence[str] = NUMBERS) -> int:
    word = match["n"].lower()
    if word.isdigit():
        return int(word)
    return next(n for n, name in enumerate(numbers, start=1) if re.fullmatch(name, word))


def counted(
    unit: Unit,
    sign: int,
    match: re.Match[str],
    at: date,
    printer: Printer,
    *,
    numbers: Sequence[str] = NUMBERS,
) -> str | None:
    count = _count(match, numbers)
    if unit is years and count > MOST_YEARS_AWAY:
        return None
    return unit(sign * count, match, at, printer)


def if_future(unit: Unit, match: re.Match[str], at: date, printer: Printer) -> str | None:
    """ "In two weeks" is also a duration; take it as a date only after a word of future."""
    before = match.string[max(0, match.start() - FUTURE_WITHIN) : match.start()]
    return unit(_count(match), match, at, printer) if _FUTURE.search(before) else None


def around(words: str, match: re.Match[str], at: date, printer: Printer) -> str:
    month = printer.print_month(at.year * 12 + at.month - 1)
    return words.format(day=printer.print_day(at), month=month, year=at.year)


def weekday(
    direction: int, match: re.Match[str], at: date, printer: Printer, *, day: int | None = None
) -> str:
    """Return the last such day before, the first from today on (0), or the next one.

    English speakers disagree about "next Friday": both days are printed.
    """
    day = WEEKDAYS.index(match["day"].lower()) if day is None else day
    if direction < 0:
        return printer.print_day(at - timedelta(days=(at.weekday() - day - 1) % 7 + 1))
    if direction == 0:
        return printer.print_day(at + timedelta(days=(day - at.weekday()) % 7))
    coming = at + timedelta(days=(day - at.weekday() - 1) % 7 + 1)
    next_week = _monday(at, 1) + timedelta(days=day)
    if coming == next_week:
        return printer.print_day(coming)
    joint = "or" if printer is ENGLISH else "/"
    return f"{printer.print_day(coming)} {joint} {printer.print_day(next_week)}"


def named_month(direction: int, match: re.Match[str], at: date, printer: Printer) -> str:
    month = [name.lower() for name in MONTHS].index(match["month"].lower())
    months = at.year * 12 + month
    if (months - (at.year * 12 + at.month - 1)) * direction <= 0:
        months += 12 * direction
    return printer.print_month(months)


def cjk_weekday(weeks: int, match: re.Match[str], at: date, printer: Printer) -> str:
    day = "一二三四五六日天".index(match["day"])
    return printer.print_day(_monday(at, weeks) + timedelta(days=min(day, 6)))


def cjk_month_day(months: int, match: re.Match[str], at: date, printer: Printer) -> str:
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    return printer.print_day(date(year, month + 1, int(match["date"])))


def cjk_year_month(years: int, match: re.Match[str], at: date, printer: Printer) -> str:
    word = match["month"]
    ones = "一二三四五六七八九".find(word.rpartition("十")[2] or "x") + 1
    month = int(word) if word.isdigit() else ones + 10 * ("十" in word)
    return printer.print_month((at.year + years) * 12 + month - 1)

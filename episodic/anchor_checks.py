"""Checks the dates that a language model wrote against the messages and their times.

A model counts days badly but sounds certain, while code knows only a few time phrases. So a date in
brackets is removed only if code can tell that it is wrong: it lies outside the days that the phrase
before it can mean, or it falls on another weekday than the one named. A phrase without a date gets
one if code knows it.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import date

import dateparser

from episodic.engines import Line
from memoryproject.text.dates import MONTHS, WEEKDAYS, Phrase, find_phrases, insert_labels

Span = tuple[date, date]
"""First and last day, both included."""

_BRACKET = re.compile(r"(?:(?<!\s)\s+)?[(\uff08]([^()\uff08\uff09]{4,60})[)\uff09]")
_WEEKDAY_BEFORE = re.compile(r"\b(" + "|".join(WEEKDAYS) + r")\W*$", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_DATE_WORDS = re.compile(
    r"\d+(?:st|nd|rd|th)?|"
    + "|".join(rf"{month}|{month[:3]}" for month in MONTHS)
    + r"|sept|of|the|or|to|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[年月日至到]|[\s,./:–—-]",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d{4})[-/年](?:(\d{1,2})(?:[-/月](\d{1,2})日?|月)?)?(?!\d)(?:T.*)?")
_DOTTED = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_MONTH_NAME = re.compile(r"[^\W\d_]{3,}")
_BETWEEN = re.compile(
    r"(?:(?<!\s)\s+)?(?:–|—|至|到|\bto\b|\bor\b|(?<![\d-])-|(?<=\d)-(?=\d{1,2}\s))\s*"
)
_READING = {"STRICT_PARSING": False, "RETURN_AS_TIMEZONE_AWARE": False}


def drop_wrong_dates(text: str, *, lines: Sequence[Line]) -> str:
    """Return a model's text about `lines` without the dates in brackets that are impossible."""
    talk = " ".join(" ".join(line.content for line in lines).split()).lower()
    meanings = _find_meanings(text, lines)

    def judge(match: re.Match[str]) -> str:
        inside = match[1].strip()
        span = None if _DATE_WORDS.sub("", inside) else read_span(inside)
        if span is None or " ".join(inside.split()).lower() in talk:
            return match[0]  # no date, or none of the model's
        right = [read_span(phrase.label) for phrase in meanings.get(match.start(), ())]
        wrong = all(known and (known[1] < span[0] or span[1] < known[0]) for known in right)
        if right:
            return "" if wrong else match[0]
        return "" if _is_other_weekday(span, text[: match.start()]) else match[0]

    return _BRACKET.sub(judge, text)


def add_dates(text: str, *, lines: Sequence[Line]) -> str:
    """Return the text with the date added after each undated phrase that has only one meaning."""
    meanings = _find_meanings(text, lines).values()
    return insert_labels(text, [phrases[0] for phrases in meanings if len(phrases) == 1])


def check_dates(text: str, *, lines: Sequence[Line]) -> str:
    """Return the text without wrong dates, and with the missing ones that code knows."""
    return add_dates(drop_wrong_dates(text, lines=lines), lines=lines)


def read_span(text: str) -> Span | None:
    """Return the days that a written date, month, year or range of them covers; else None."""
    parts = [text] if _NUMBERED.fullmatch(text) else _BETWEEN.split(text.strip())
    year = _YEAR.search(text)
    if year is None or len(parts) > 2:
        return None
    spans = [_read_part(part, whole=text, year=year[0]) for part in parts]
    first, last = spans[0], spans[-1]
    return None if first is None or last is None else (first[0], max(first[1], last[1]))


def _find_meanings(text: str, lines: Sequence[Line]) -> dict[int, list[Phrase]]:
    """Return by its end what each phrase means: one meaning for each day on which it was said."""
    meanings: dict[int, list[Phrase]] = {}
    for phrase in find_phrases(text, at=lines[0].at) if lines else ():
        words = text[phrase.start : phrase.end].lower()
        saying = [line for line in lines if words in line.content.lower()] or lines
        days = {line.at.date(): line.at for line in saying}
        readings = (find_phrases(text, at=at) for at in days.values())
        meanings[phrase.end] = [
            other for phrases in readings for other in phrases if other.end == phrase.end
        ]
    return meanings


def _read_part(part: str, *, whole: str, year: str) -> Span | None:
    """Return the days of one end of a range; a part that is missing is read from the other end."""
    if part.isdecimal() and len(part) < 3:
        month = next((name for name in MONTHS if name.lower() in whole.lower()), "")
        return _read_date(f"{part} {month} {year}")
    completed = (part, f"{part} {year}", f"{year}年{part}")
    return next((span for text in completed if (span := _read_date(text))), None)


def _read_date(text: str) -> Span | None:
    text = text.strip()
    if match := _NUMBERED.fullmatch(text):
        return _to_span(match.groups())
    if match := _DOTTED.fullmatch(text):
        return _to_span(match.groups()[::-1])
    if text.isdecimal():
        return _to_span([text])
    if not _YEAR.search(text) or not _MONTH_NAME.search(text):
        return None
    for parts, form in ((["day", "month", "year"], "%Y-%m-%d"), (["month", "year"], "%Y-%m")):
        read = dateparser.parse(text, settings={**_READING, "REQUIRE_PARTS": parts})
        if read is not None:
            return _to_span(read.strftime(form).split("-"))
    return None


def _to_span(numbers: Iterable[str | None]) -> Span | None:
    year, *rest = [int(number) for number in numbers if number]
    month, day = [*rest, 0, 0][:2]
    try:
        first = date(year, month or 1, day or 1)
        if day:
            return first, first
        last_month = month or 12
        return first, date(year, last_month, monthrange(year, last_month)[1])
    except ValueError:
        return None


def _is_other_weekday(span: Span, before: str) -> bool:
    weekday = _WEEKDAY_BEFORE.search(before)
    return (
        weekday is not None
        and span[0] == span[1]
        and span[0].weekday() != WEEKDAYS.index(weekday[1].lower())
    )

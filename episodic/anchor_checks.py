"""Dates that a language model put behind time phrases, held against what was said when.

A model counts days badly, and sounds sure. So where code can place a phrase, code's date
stands behind it; another date in brackets stays only if somebody said it, or if it is a
day, month or year that the messages themselves speak of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import dateparser

from episodic.engines import Line
from episodic.time_anchors import MONTHS, Phrase, find_phrases, insert_labels

_BRACKET = re.compile(r"\s*[(\uff08]([^()\uff08\uff09]{4,60})[)\uff09]")
_YEAR = re.compile(r"\b(?:19|20)\d{2}(?!\d)|(?:19|20)\d{2}年")
_DATE_WORDS = re.compile(
    r"\d+(?:st|nd|rd|th)?|"
    + "|".join(rf"{month}|{month[:3]}" for month in MONTHS)
    + r"|sept|week|of|the|or|and|to|around|about|circa|early|mid|late|before|after|shortly|some"
    r"|days?|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[年月日号至到]"
    r"|[\s,./:–—-]",
    re.IGNORECASE,
)
_SHAPES = ((["day", "month", "year"], "%Y-%m-%d"), (["month", "year"], "%Y-%m"), (["year"], "%Y"))
_READING = {"STRICT_PARSING": False, "RETURN_AS_TIMEZONE_AWARE": False}


def check_anchors(text: str, *, lines: Sequence[Line]) -> str:
    """Return what a model wrote about `lines`, with no date behind a phrase but right ones.

    A phrase that was said on several days gets none.
    """
    text = _drop_unfounded(text, lines)
    if not lines:
        return text
    right = [_place(phrase, text, lines) for phrase in find_phrases(text, at=lines[0].at)]
    return insert_labels(text, [phrase for phrase in right if phrase is not None])


def _drop_unfounded(text: str, lines: Sequence[Line]) -> str:
    said = " ".join(" ".join(line.content for line in lines).split()).lower()
    founded = _founded_dates(lines)
    phrases = {phrase.end for line in lines[:1] for phrase in find_phrases(text, at=line.at)}

    def judge(match: re.Match[str]) -> str:
        inside = match[1].strip()
        if not _YEAR.search(inside) or _DATE_WORDS.sub("", inside):
            return match[0]  # no date, so not ours to judge
        if " ".join(inside.split()).lower() in said:
            return match[0]
        if match.start() in phrases:
            return ""  # the phrase gets its date from us
        return match[0] if _read_date(inside) in founded else ""

    return _BRACKET.sub(judge, text)


def _founded_dates(lines: Sequence[Line]) -> set[str]:
    """Return the days, months and years that the messages speak of, or were said on."""
    found: set[str] = set()
    for line in lines:
        days = [line.at.strftime("%Y-%m-%d")]
        days += [_read_date(phrase.label) for phrase in find_phrases(line.content, at=line.at)]
        found |= {day[:size] for day in days for size in (4, 7, 10) if len(day) >= size}
    return found


def _read_date(text: str) -> str:
    """Return a date as 2023-05-07, a month as 2023-05, a year as 2023; else nothing."""
    for parts, form in _SHAPES:
        read = dateparser.parse(text, settings={**_READING, "REQUIRE_PARTS": parts})
        if read is not None:
            return str(read.strftime(form))
    return ""


def _place(phrase: Phrase, text: str, lines: Sequence[Line]) -> Phrase | None:
    """Return the phrase with the date that it had when it was said; None if that is open."""
    words = text[phrase.start : phrase.end].lower()
    saying = [line for line in lines if words in line.content.lower()] or lines
    days: dict[str, datetime] = {line.at.date().isoformat(): line.at for line in saying}
    if len(days) != 1:
        return None
    (at,) = days.values()
    for found in find_phrases(text, at=at):
        if found.start == phrase.start:
            return found
    return None

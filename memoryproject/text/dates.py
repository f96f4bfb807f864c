"""Adds dates to relative phrases: "last week" becomes "last week (1–7 May 2023)".

A memory is read long after it was said, when "yesterday" means another day. The speaker's words
stay; the date is added after them, never more precise than the phrase. Weeks run from Monday to
Sunday. A phrase that cannot be resolved is left unchanged. Pure: no clock, no locale, no I/O.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

from memoryproject.text.date_meanings import MONTHS, WEEKDAYS, Rule, When
from memoryproject.text.date_phrases import Language, find_language, rules_of

__all__ = [
    "MONTHS",
    "WEEKDAYS",
    "Phrase",
    "anchor_times",
    "at_offset",
    "find_phrases",
    "insert_labels",
    "place_labels",
    "read_offset",
]

_ALREADY_DATED = re.compile(r"[ \t]{0,3}[((][^))\n]{0,60}\d{4}")
HIRAGANA, LAST_HAN = "\u3040", "\u9fff"
"""Range of scripts without spaces between words."""
REMEMBERED_TEXTS = 500
"""Number of cached texts: a sentence is read for a summary, and again for facts."""


class Phrase(NamedTuple):
    """A relative time phrase: its position in the text, its date, and the printed date."""

    start: int
    end: int
    when: When
    label: str


def read_offset(moment: datetime) -> int:
    """Return how many minutes a time's clock is ahead of UTC; may be negative."""
    return int((moment.utcoffset() or timedelta()).total_seconds() // 60)


def at_offset(moment: datetime, minutes: int) -> datetime:
    """Return a time on a clock that is this many minutes ahead of UTC."""
    return moment.astimezone(timezone(timedelta(minutes=minutes))) if minutes else moment


def anchor_times(text: str, *, at: datetime) -> str:
    """Return `text` with an absolute date after each relative time phrase.

    `at` is when it was said, with its own calendar day. Doing it twice changes nothing. Example,
    said on 8 May 2023: "I ran yesterday" becomes "I ran yesterday (7 May 2023)"; 我去年毕业 becomes
    我去年(2022年)毕业.
    """
    return insert_labels(text, find_phrases(text, at=at))


def find_phrases(text: str, *, at: datetime, language: Language | None = None) -> Sequence[Phrase]:
    """Return the relative time phrases of a text in order, each with the date it means.

    `language`: that of the text; None: it is detected.
    """
    # By the day: one moment is two days on two clocks, and counts as one key.
    return _find_phrases(text, at.date(), language)


@lru_cache(REMEMBERED_TEXTS)
def _find_phrases(text: str, said_on: date, language: Language | None) -> Sequence[Phrase]:
    phrases = [
        phrase
        for rule in rules_of(language or find_language(text))
        for match in rule.pattern.finditer(text)
        if (phrase := _to_phrase(rule, match, said_on)) is not None
    ]
    apart: list[Phrase] = []
    for phrase in sorted(phrases, key=lambda phrase: (phrase.start, -phrase.end)):
        if not apart or phrase.start >= apart[-1].end:
            apart.append(phrase)
    return tuple(apart)


def _to_phrase(rule: Rule, match: re.Match[str], said_on: date) -> Phrase | None:
    try:
        when = rule.meaning(match, said_on)
    except (OverflowError, ValueError):  # before year 1, or 31 February
        return None
    return Phrase(match.start(), match.end(), when, rule.printer.render(when)) if when else None


def insert_labels(text: str, phrases: Sequence[Phrase]) -> str:
    """Return a text with each phrase's date after it, unless there is one already."""
    parts: list[str] = []
    done = 0
    for end, label in place_labels(text, phrases):
        parts += [text[done:end], label]
        done = end
    return "".join(parts) + text[done:]


def place_labels(text: str, phrases: Sequence[Phrase]) -> list[tuple[int, str]]:
    """Return positions and texts of the dates to insert into a text, in order."""
    return [
        (
            phrase.end,
            f"{'' if HIRAGANA <= text[phrase.end - 1] <= LAST_HAN else ' '}({phrase.label})",
        )
        for phrase in phrases
        if not _ALREADY_DATED.match(text, phrase.end)
    ]

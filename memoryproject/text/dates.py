"""Says which date a relative phrase means: "last week" becomes "last week (1–7 May 2023)".

A memory is read long after it was said, when "yesterday" means another day. The speaker's
words stay; the date is added behind them, never more precise than the phrase. Weeks run from
Monday to Sunday. A phrase that cannot be placed is left alone. Pure: no clock, no locale, no I/O.
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
"""Between these, scripts put no spaces between words."""
REMEMBERED_TEXTS = 500
"""A sentence is read for its episode's summary, and again for its facts."""


class Phrase(NamedTuple):
    """Where a relative time phrase stands in a text, and the date it means, also as printed."""

    start: int
    end: int
    when: When
    label: str


def read_offset(moment: datetime) -> int:
    """Return by how many minutes the clock that gave a time was ahead of UTC; may be negative."""
    return int((moment.utcoffset() or timedelta()).total_seconds() // 60)


def at_offset(moment: datetime, minutes: int) -> datetime:
    """Return a time as a clock shows it that is so many minutes ahead of UTC."""
    return moment.astimezone(timezone(timedelta(minutes=minutes))) if minutes else moment


def anchor_times(text: str, *, at: datetime) -> str:
    """Return `text` with an absolute date behind each relative time phrase.

    `at` is when it was said; its own calendar day counts. Anchoring twice changes
    nothing. Example, said on 8 May 2023: "I ran yesterday" becomes "I ran yesterday
    (7 May 2023)"; 我去年毕业 becomes 我去年(2022年)毕业.
    """
    return insert_labels(text, find_phrases(text, at=at))


def find_phrases(text: str, *, at: datetime, language: Language | None = None) -> Sequence[Phrase]:
    """Return the relative time phrases of a text in order, each with the date it means.

    In `language`, where that is known already; else in the one that the text is found to be in.
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
    """Return a text with each phrase's date behind it, unless one stands there."""
    parts: list[str] = []
    done = 0
    for end, label in place_labels(text, phrases):
        parts += [text[done:end], label]
        done = end
    return "".join(parts) + text[done:]


def place_labels(text: str, phrases: Sequence[Phrase]) -> list[tuple[int, str]]:
    """Return where dates are put into a text, in order, and how they are printed there."""
    return [
        (
            phrase.end,
            f"{'' if HIRAGANA <= text[phrase.end - 1] <= LAST_HAN else ' '}({phrase.label})",
        )
        for phrase in phrases
        if not _ALREADY_DATED.match(text, phrase.end)
    ]

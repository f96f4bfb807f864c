"""Finds the values in a sentence by their kind: weekdays, times, dates, numbers, names."""

import re
from enum import Enum

from memoryproject.text.date_phrases import get_languages
from semantic.patterns import read_text

MONTHS = read_text("values.months")
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_OTHER_MONTHS = {month.lower() for language in get_languages() for month in language.months}
OTHER_MONTHS = "|".join(sorted(_OTHER_MONTHS, key=len)[::-1])
OTHER_WEEKDAYS = read_text("values.other_weekdays")
_NO_TIME = read_text("values.no_unit_of_time")


class Kind(Enum):
    """The kinds of value, in the order in which they are looked for."""

    WEEKDAY = re.compile(
        rf"\b{WEEKDAY}\b|{OTHER_WEEKDAYS}|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE
    )
    TIME = re.compile(
        r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|[上下]午[\d一二三四五六七八九十]+点半?",
        re.IGNORECASE,
    )
    DATE = re.compile(
        rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTHS})\b|"
        rf"\b(?:{MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?\b|\d+月\d+[号日]?|"
        rf"\b\d{{1,2}}\.?(?: de)? (?:{OTHER_MONTHS})\b",
        re.IGNORECASE,
    )
    ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b|(?<!\d)\d+[号日]")
    MONTH = re.compile(rf"\b(?:in|until|to|since|from) (?:{MONTHS})\b", re.IGNORECASE)
    NUMBER = re.compile(rf"(?<![\w.:])[$€£¥]?\d(?:[\d.,]*\d)?(?: \d{(2,)})*(?![\d:]){_NO_TIME}")
    NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-ZÀ-Þ][\w-]+\b")


def find_values(text: str) -> dict[Kind, list[str]]:
    """Return the values in a text by their kind, each once; a part of a value is none itself."""
    values: dict[Kind, list[str]] = {}
    rest = text
    for kind in Kind:
        matches = [match[0] for match in kind.value.finditer(rest)]
        if matches:
            values[kind] = list(dict.fromkeys(match.lower() for match in matches))
        rest = kind.value.sub(" ", rest)
    return values

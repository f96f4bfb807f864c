"""Finds values of a known type in a text: days, dates, times, sums, counted things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
SMALL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
)
NUMBER = rf"(?:\d+(?:[.,]\d+)*|{SMALL}(?:[- ]{SMALL})?(?: hundred| thousand)?)"
HAN_NUMBER = r"(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万半]+)"
CASED = frozenset({"date", "weekday", "month"})
KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (
        kind,
        re.compile(pattern, 0 if kind in CASED else re.IGNORECASE),
    )
    for kind, pattern in (
        (
            "date",
            rf"\b(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b|"
            rf"{MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,? \d{{4}}\b)?|\d+月\d+[号日]?",
        ),
        (
            "time",
            rf"\b(?:\d{{1,2}}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b\.?)|\d{{1,2}}:\d\d|(?:half past |"
            rf"quarter "
            rf"(?:past|to) )(?:\d{{1,2}}|{SMALL})|(?:\d{{1,2}}|{SMALL}) o'clock|noon|midnight)|"
            rf"(?:早上|上午|中午|下午|晚上|凌晨|傍晚)?{HAN_NUMBER}点(?:半|{HAN_NUMBER}分)?",
        ),
        ("day", r"\b\d{1,2}(?:st|nd|rd|th)\b|(?<!\d)\d{1,2}[号日]"),
        (
            "month",
            rf"\b{MONTH}\b|(?<![\d一二三四五六七八九十])(?:\d{{1,2}}|[一二三四五六七八九十]+)月",
        ),
        (
            "length",
            rf"\b(?:{NUMBER}|an?|half an) (?:hours?|minutes?|mins?)\b|"
            rf"{HAN_NUMBER}个?(?:小时|分钟)",
        ),
        (
            "rank",
            r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|"
            r"twelfth|"
            r"\d+(?:st|nd|rd|th)) (?=grade|year|class|semester|term|floor)|"
            r"[一二三四五六七八九初高大]+(?=年级)",
        ),
        (
            "often",
            r"\bevery (?:other |single |second )?(?:day|week|month|year|morning|evening|night|"
            r"weekend|"
            r"\w+day)s?\b|\b(?:once|twice|thrice|daily|weekly|monthly|fortnightly)\b(?: (?:a|"
            r"per) \w+)?|"
            rf"\b{NUMBER} times (?:a|per) \w+|\b(?:a|per) (?:day|week|month|year)\b",
        ),
        (
            "weekday",
            r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]",
        ),
        ("number", rf"(?<![\w.])[$€£]?{NUMBER}(?![\w])(?!['-]s)|{HAN_NUMBER}"),
    )
)
# "One" and 一 are articles more often than numbers.
NO_VALUE = frozenset({"one", "一", "may", "mar"})
ALIKE = (frozenset({"often", "number"}), frozenset({"often", "weekday"}))


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value and where it stands in its text."""

    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=4096)  # each new sentence is compared with each held one
def find_values(text: str) -> tuple[Value, ...]:
    """Return the values of `text` in order; none overlaps another, the more specific wins."""
    taken: list[Value] = []
    for kind, pattern in KINDS:
        for match in pattern.finditer(text):
            inside = any(match.start() < v.end and v.start < match.end() for v in taken)
            if not inside and match[0].lower() not in NO_VALUE and match[0]:
                taken.append(Value(kind, match[0], match.start(), match.end()))
    return tuple(sorted(taken, key=lambda value: value.start))


def value_kind(text: str) -> str:
    """Return the type of which all of `text` is a value, "" if it is none."""
    found = find_values(text.strip())
    return found[0].kind if len(found) == 1 and found[0].text == text.strip() else ""


def find_alike(text: str, value: str) -> Iterator[Value]:
    """Yield the values in `text` that `value` may stand in for: those of its type."""
    kind = value_kind(value)
    for found in find_values(text):
        if kind and found.kind == kind:
            yield found


def same_kind(a: str, b: str) -> bool:
    """Whether values of two types answer one question: "once" and "three times"."""
    return a == b or frozenset({a, b}) in ALIKE

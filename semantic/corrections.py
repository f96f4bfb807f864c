"""Finds corrections ("the 14th, not the 13th") and mends the fact they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_WORDS = 9
"""Of a correction: a longer sentence contrasts rather than corrects."""
VALUE = (
    r"(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?|"
    r"\d+(?:[.:]\d+)?(?:st|nd|rd|th)?(?: ?[ap]m)?|[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|[a-z][\w-]*(?: "
    r"[a-z][\w-]*)?)"
)
LEAD = r"(?:on |in |at |the |a |an |from |for |with |called |named )*"
IS = (
    r"(?:it's|it is|that's|that is|it was|it'll be|this is|i meant(?: to say)?|i mean|make "
    r"that|should be|he's|she's|they're|i'm)"
)
CUE = re.compile(
    r"^(?:(?:actually|sorry|correction|wait|no|oops|my mistake|my bad|i was wrong|i misspoke|to "
    r"correct myself|"
    r"let me correct that|i made a mistake|i meant|well|oh|ah|hmm|scratch that)[,:.!—–\s-]*)+",
    re.IGNORECASE,
)
ENGLISH_PAIRS = (
    re.compile(rf"(?P<new>{VALUE})(?: [a-z]+)?,? (?:and )?not {LEAD}(?P<old>{VALUE})\s*[.!]*$"),
    re.compile(
        rf"not {LEAD}(?P<old>{VALUE})[,;]? (?:but|{IS}) {LEAD}(?P<new>{VALUE})\s*[.!]*$",
        re.IGNORECASE,
    ),
)
ENGLISH_SINGLE = re.compile(rf"^(?:{IS} )?{LEAD}(?P<new>{VALUE})\s*[.!]*$", re.IGNORECASE)
CHINESE_PAIRS = (
    re.compile(r"不是(?P<old>[^，。；是]{1,12})[，,]?(?:而)?(?:应该)?是(?P<new>[^，。；！]{1,12})"),
    re.compile(
        r"(?:是|在|叫)(?P<new>[^，。；是]{1,12})[，,]\s*(?:而)?不是(?P<old>[^，。；！]{1,12})"
    ),
)
CHINESE_SINGLE = re.compile(
    r"^(?:其实|不对|更正一下|更正|说错了|我说错了|我记错了|搞错了|应该|抱歉|"
    r"对不起)[，,。！\s]*(?:其实|应该)?(?:是|在|叫)(?P<new>[^，。；！]{1,12})[。！]?$"
)
KINDS = (
    re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b"),
    re.compile(
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November|"
        r"December) \d{1,2}\b"
    ),
    re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"),
    re.compile(r"\b\d{1,2}(?::\d\d)? ?[ap]m\b", re.IGNORECASE),
    re.compile(r"\d+月\d+[号日]"),
    re.compile(r"(?:周|星期|礼拜)[一二三四五六日天]"),
    re.compile(r"\d+[号日]"),
    re.compile(r"\d+(?:[.:]\d+)?"),
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A value put right; `old` is empty where only the right one was said."""

    old: str
    new: str


def find_correction(sentence: str) -> Correction | None:
    """Return what a sentence corrects, None where it corrects nothing.

    "Rome, not Paris" counts without a cue word; a lone right value only behind one
    ("Actually, it's the 14th"), since every other short answer would look like it.
    """
    text = sentence.strip()
    for pattern in CHINESE_PAIRS:
        if match := pattern.search(text):
            return Correction(_bare(match["old"]), _bare(match["new"]))
    if match := CHINESE_SINGLE.match(text):
        return Correction("", _bare(match["new"]))
    bare = re.sub(rf"^{IS} {LEAD}", "", CUE.sub("", text), flags=re.IGNORECASE)
    if found := _find_pair(bare, cued=bare != text):
        return found
    single = ENGLISH_SINGLE.match(bare) if bare != text else None
    return Correction("", single["new"]) if single and kind_of(single["new"]) is not None else None


def _find_pair(text: str, *, cued: bool) -> Correction | None:
    """Return "Rome, not Paris" in a short sentence; plain words only behind a cue."""
    if len(text.split()) > MOST_WORDS:
        return None
    for pattern in ENGLISH_PAIRS:
        match = pattern.search(text)
        if match and (cued or (_stands_out(match["old"]) and _stands_out(match["new"]))):
            return Correction(match["old"], match["new"])
    return None


def _stands_out(value: str) -> bool:
    """Whether a value is a name or a number, and no "I'm"."""
    return not value[0].islower() and not re.match(r"I\b", value)


def mend_fact(fact: str, correction: Correction) -> str | None:
    """Return `fact` with the right value in place of the wrong one.

    None where it does not hold the wrong value, or, when only the right value is
    known, where not exactly one value of that kind stands in it.
    """
    if correction.old:
        pattern = re.escape(correction.old)
        edge = r"\b" if correction.old.isascii() else ""
        if not re.search(rf"{edge}{pattern}{edge}", fact):
            return None
        return re.sub(rf"{edge}{pattern}{edge}", lambda _: correction.new, fact, count=1)
    kind = kind_of(correction.new)
    if kind is None:
        return None
    found = kind.findall(fact)
    if len(found) != 1 or found[0] == correction.new:
        return None
    return kind.sub(lambda _: correction.new, fact)


def kind_of(value: str) -> re.Pattern[str] | None:
    """Return the pattern of the first kind of value (ordinal, weekday, …) that fits all of it."""
    return next((kind for kind in KINDS if kind.fullmatch(value)), None)


def _bare(text: str) -> str:
    return re.sub(r"^(?:在|叫|住在)|[的了。！]+$", "", text.strip())

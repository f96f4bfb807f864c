"""Finds corrections ("the 14th, not the 13th") and mends the fact they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from semantic.claims import concepts, stems
from semantic.informative import STOP_WORDS
from semantic.sentences import split_sentences
from semantic.values import find_alike, find_values, value_kind

MOST_WORDS = 9
"""Of a correction: a longer sentence contrasts rather than corrects."""
VALUE = (
    r"(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?|"
    r"[$€£]?\d+(?:[.:,]\d+)*(?:st|nd|rd|th)?(?: ?[ap]m| o'clock)?|[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|"
    r"[a-z][\w-]*(?: [a-z][\w-]*)?)"
)
LEAD = r"(?:on |in |at |the |a |an |from |for |with |called |named |to |now )*"
IS = (
    r"(?:it's|it is|that's|that is|it was|it'll be|this is|i meant(?: to say| to write)?|i mean|"
    r"make "
    r"that|should be|should have been|should read|he's|she's|they're|i'm|we're|it should be|we "
    r"said)"
)
CUE = re.compile(
    r"^(?:(?:actually|sorry|apologies|correction|wait|hold on|hang on|no|nope|oops|whoops|my "
    r"mistake|my bad|typo|i was wrong|i got (?:that|it) wrong|i misspoke|to correct myself|i lied|"
    r"let me correct (?:that|myself)|i made a mistake|i meant|well|oh|ah|hmm|argh|ugh|scratch that|"
    r"i mixed (?:that|it|them) up|i said that wrong|(?:that|it)(?: was|'s| is) (?:wrong|a mistake|"
    r"not right)|wrong|pardon|not quite|so)\b[,:.!—–\s-]*)+",
    re.IGNORECASE,
)
CUE_OPENING = re.compile(
    r"^(?:actually|sorry|correction|wait|hold on|hang on|oops|whoops|my mistake|my bad|typo|"
    r"scratch "
    r"that|no wait|i lied)\b|^.{0,6}(?:不对|说错|记错|搞错|更正|写错|其实)",
    re.IGNORECASE,
)
# Somewhere in the sentence before: the value itself follows in this one.
CUE_BEFORE = re.compile(
    r"\b(?:actually|sorry|correction|wait|hold on|hang on|oops|whoops|mistake|my bad|typo|wrong|"
    r"misspoke|scratch that|mixed|push(?:ed)?|moved?|changed?|postponed?|rescheduled?|delayed?|"
    r"new (?:date|time|day|slot|number|address))\b|"
    r"不对|说错|记错|搞错|更正|写错|改|推迟|提前",
    re.IGNORECASE,
)
ENGLISH_PAIRS = (
    re.compile(
        rf"(?P<new>(?=[A-Z0-9$€£]){VALUE})(?: [a-z]+)?,? (?:and )?"
        rf"not {LEAD}(?P<old>{VALUE})\s*[.!]*$"
    ),
    re.compile(rf"\b{LEAD}(?P<new>{VALUE}),? (?:and )?not {LEAD}(?P<old>{VALUE})\s*[.!]*$"),
    re.compile(
        rf"not {LEAD}(?P<old>{VALUE})[,;]? (?:but|{IS}) {LEAD}(?P<new>{VALUE})\s*[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:said|wrote|told you|put|typed) {LEAD}(?P<old>{VALUE})[,;]? (?:but |and |when )*"
        rf"(?:(?:{IS}|it|i) )*(?:meant |is |was )?(?:actually |really "
        rf")?{LEAD}(?P<new>{VALUE})\s*[.!]*$",
        re.IGNORECASE,
    ),
)
BARE_PAIR = re.compile(rf"\bnot {LEAD}(?P<old>{VALUE})[,;:.—–-]+ ?{LEAD}(?P<new>{VALUE})\s*[.!]*$")
# A day or time that is put in place of another, with nothing else said.
RESET = re.compile(
    r"^(?:okay |ok |so |and )*(?:it's|it is|we're|we are|they're|it'll be|we'll|i'm|it|we|that's)\b"
    r".*\b(?:instead|now)\b|\bnew (?:date|time|day)\b",
    re.IGNORECASE,
)
SO_IT_IS = re.compile(
    r"^(?:okay |so |and )*(?:it's|it is|we're|they're|it'll be|we'll|it|we)\b", re.I
)
DAYS = frozenset({"date", "weekday", "time", "day", "month"})
ENGLISH_SINGLE = re.compile(rf"^(?:{IS} )?{LEAD}(?P<new>{VALUE})\s*[.!]*$", re.IGNORECASE)
# "It's now July 8, hope you can still come"
NOW = re.compile(r"\b(?:now|actually)\b")
IT_IS = re.compile(
    rf"^(?:it's|it is|it'll be|that's|make it|make that|we said) (?:(?:now|actually|really|only|"
    rf"gonna be|going to be) )*{LEAD}"
)
CHINESE_PAIRS = (
    re.compile(r"不是(?P<old>[^，。；是]{1,12})[，,]?(?:而)?(?:应该)?是(?P<new>[^，。；！]{1,12})"),
    re.compile(
        r"(?:是|在|叫)(?P<new>[^，。；是]{1,12})[，,]\s*(?:而)?不是(?P<old>[^，。；！]{1,12})"
    ),
)
WRONG = (
    r"其实|不对|更正一下|更正|说错了|我说错了|我记错了|记错了|写错了|打错了|搞错了|弄错了|"
    r"看错了|听错了|看反了|弄反了|看错|记错|应该|抱歉|对不起|不好意思"
)
CHINESE_SINGLE = re.compile(
    rf"^[^。！]{{0,12}}?(?:{WRONG})[了，,。！\s]*(?:其实|应该|(?:{WRONG})[，,]?)*(?:是|在|叫)"
    r"(?P<new>[^，。；！]{1,16}?)(?:才对)?[。！]?$"
)
NAME = r"[A-Z][\w-]*(?: (?:(?:of|de|la|le|del|der|the|and) )*[A-Z][\w-]*)*"
# "I meant the Cliffs of Dover": a name stands in for the name that is most like it.
MEANT = re.compile(r"\bi meant?\b|\bmake that\b|\bcorrection\b", re.IGNORECASE)
ONLY_NAME = re.compile(rf"^(?:to say |to write |to type )?{LEAD}(?P<new>{NAME})\s*[.!]*$")
NAMING = re.compile(
    rf"^(?:my|our|the|his|her|their) (?P<whose>[a-z][\w -]*?)(?:'s name is| is (?:called|named)|"
    rf"'s (?:called|named)) (?P<new>{NAME})\s*[.!]*$",
    re.IGNORECASE,
)
NAMED = re.compile(rf"\b(?:[Nn]ame(?:'s| is)|called|named) (?P<name>{NAME})")
# What opens a correction that is a sentence of its own.
SPOKEN_CUE = re.compile(
    r"^(?:(?:correction|sorry|apologies|oops|whoops|scratch that|my mistake|my bad|typo|"
    r"i misspoke|let me correct (?:that|myself))\b[,:.!—–\s-]+)+",
    re.IGNORECASE,
)
CHINESE_CUE = re.compile(rf"^(?:(?:我|刚才|刚刚|前面|之前)*(?:{WRONG})[了，,：:。！\s]+)+")


@dataclass(frozen=True, slots=True)
class Correction:
    """A value put right; `old` is empty where only the right one was said.

    `whose` is set where `new` is a name: of what it is said to be the name.
    """

    old: str
    new: str
    whose: str = ""


def find_correction(sentence: str, *, before: str = "") -> Correction | None:
    """Return what a sentence corrects, None where it corrects nothing.

    "Rome, not Paris" counts without a cue word; a lone right value only behind one
    ("Actually, it's the 14th") or after a sentence `before` it that has one, since every
    other short answer would look like it.
    """
    text = sentence.strip()
    for pattern in CHINESE_PAIRS:
        if match := pattern.search(text):
            return Correction(_bare(match["old"]), _bare(match["new"]))
    if match := CHINESE_SINGLE.match(text):
        return Correction("", _bare(match["new"]))
    rest = CUE.sub("", text)
    bare = re.sub(rf"^{IS} {LEAD}", "", rest, flags=re.IGNORECASE)
    cued = rest != text or CUE_BEFORE.search(before) is not None
    if found := _find_pair(bare, cued=cued or bare != text):
        return found
    if cued and (naming := NAMING.match(rest)):
        return Correction("", naming["new"], whose=naming["whose"])
    if MEANT.search(text) and (name := ONLY_NAME.match(rest)) and not value_kind(name["new"]):
        return Correction("", name["new"])
    found = _find_single(rest, bare, cued=cued) if cued or bare != text else None
    return found or _find_reset(text, cued=CUE_BEFORE.search(before) is not None)


def _find_reset(text: str, *, cued: bool) -> Correction | None:
    """Return the only day or time of a short clause that says no more than that it is so."""
    for clause in re.split(r"[,.;!]\s+|\bso\b", text):
        values = find_values(clause)
        reset = RESET.search(clause.strip()) or (cued and SO_IT_IS.match(clause.strip()))
        if reset and len(clause.split()) <= MOST_WORDS and len(values) == 1:
            return Correction("", values[0].text) if values[0].kind in DAYS else None
    return None


def _find_single(rest: str, bare: str, *, cued: bool) -> Correction | None:
    """Return the right value of a cued sentence that is, or starts with, one typed value."""
    single = ENGLISH_SINGLE.match(bare)
    if single and value_kind(single["new"]):
        return Correction("", single["new"])
    lead = IT_IS.match(rest.lower())
    if lead is None or not (cued or NOW.search(lead[0])):
        return None
    values = find_values(rest)
    starts = [value for value in values if value.start == lead.end()]
    return Correction("", starts[0].text) if starts and len(values) == 1 else None


def _find_pair(text: str, *, cued: bool) -> Correction | None:
    """Return "Rome, not Paris" in a short sentence; plain words only behind a cue."""
    if len(text.split()) > MOST_WORDS:
        return None
    if cued and (plain := BARE_PAIR.search(text)):
        new = plain["new"].lower() if plain["old"].islower() else plain["new"]
        return Correction(plain["old"], new)
    for pattern in ENGLISH_PAIRS:
        match = pattern.search(text)
        if match is None or _stands_out(match["old"]) != _stands_out(match["new"]):
            continue
        if _stands_out(match["old"]):
            return Correction(match["old"], match["new"])
        if cued:
            return Correction(match["old"], _as_long_as(match["new"], match["old"]))
    return None


def _as_long_as(new: str, old: str) -> str:
    """Return the last words of `new`, as many as `old` has: a verb before them is no value."""
    last = " ".join(new.split()[-len(old.split()) :])
    return new if last == old else last


def _stands_out(value: str) -> bool:
    """Whether a value is a name or a number, and no "I'm"."""
    return not value[0].islower() and not re.match(r"I\b", value)


def is_cued(sentence: str, *, before: str = "") -> bool:
    """Whether a sentence takes something back, or the one `before` it does only that."""
    return CUE_OPENING.match(sentence.strip()) is not None or (
        before != "" and only_cues(split_sentences(before)[-1:])
    )


def only_cues(sentences: Sequence[str]) -> bool:
    """Whether the sentences are "Sorry, I misspoke.", and say nothing else."""
    return bool(sentences) and all(
        not CUE.sub("", text) or not CHINESE_CUE.sub("", f"{text.strip('。！.! ')}。")
        for text in sentences
    )


def strip_cue(sentence: str) -> str:
    """Return a sentence without what only says that it corrects."""
    rest = SPOKEN_CUE.sub("", CHINESE_CUE.sub("", sentence.strip()))
    return rest or sentence


def mend_fact(fact: str, correction: Correction, *, latest: bool = False) -> str | None:
    """Return `fact` with the right value in place of the wrong one.

    None where it does not hold the wrong value, or, when only the right value is
    known, where not exactly one value of that kind stands in it. A name is put in place of one
    that shares a word with it or, in the `latest` fact, of the only one.
    """
    if correction.old:
        pattern = re.escape(correction.old)
        edge = r"\b" if correction.old.isascii() else ""
        if not re.search(rf"{edge}{pattern}{edge}", fact):
            return None
        return re.sub(rf"{edge}{pattern}{edge}", lambda _: correction.new, fact, count=1)
    if correction.whose:
        return _rename(fact, correction)
    if not value_kind(correction.new) and correction.new[0].isupper():
        return _mend_name(fact, correction.new, latest=latest)
    mended = fact
    for value in find_values(correction.new):
        found = list(find_alike(mended, value.text))
        if len(found) == 1 and found[0].text != value.text:
            mended = f"{mended[: found[0].start]}{value.text}{mended[found[0].end :]}"
    return mended if mended != fact else None


def _rename(fact: str, correction: Correction) -> str | None:
    """Return a fact about `whose` with its new name, None where it tells no other."""
    named = NAMED.search(fact)
    told = concepts(stems(correction.whose)) <= concepts(stems(fact))
    if named is None or not told or named["name"] == correction.new:
        return None
    return f"{fact[: named.start('name')]}{correction.new}{fact[named.end('name') :]}"


def _mend_name(fact: str, new: str, *, latest: bool) -> str | None:
    """Return a fact with `new` for the name in it that it may stand in for."""
    others = [
        name
        for name in re.finditer(rf"\b{NAME}", fact)
        if name.start() and name[0].lower() not in STOP_WORDS and not value_kind(name[0])
    ]
    alike = [name for name in others if stems(name[0]) & stems(new)] or (others if latest else [])
    if len(alike) != 1 or alike[0][0] == new:
        return None
    article = "The " if alike[0][0].startswith("The ") else ""
    return f"{fact[: alike[0].start()]}{article}{new}{fact[alike[0].end() :]}"


def _bare(text: str) -> str:
    return re.sub(r"^(?:在|叫|住在)|[的了。！]+$", "", text.strip())

"""Finds explicit corrections of what was just said, and mends the fact that holds the mistake."""

import re
from dataclasses import dataclass
from functools import cache

from memoryproject.text.sentences import HAN, Writing, split_sentences
from memoryproject.text.words import STOP_WORDS
from semantic.offline.lexicon import get_lexicon
from semantic.offline.messages import Sentence
from semantic.offline.quotations import parse_quote, quote
from semantic.offline.values import Kind, find_values

WORD = r"(?:\d{1,2}:\d\d|[\w€$£%.'-]*\w)"
PHRASE = rf"(?:{WORD} ){{0,3}}?(?:[$€£]?\d[\d.,]*\d(?: ?[a-z]+)?|{WORD})"
DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
IS_CALLED = re.compile(r"^.*\b(?:is|are|was|were|called|named|'s) ", re.IGNORECASE)
LEADING = re.compile(r"^(?:the|a|an|on|at|in|to|am|um|el|la|le) ", re.IGNORECASE)
HAN_PHRASE = r"[^，。；！不是,!]{1,10}?"


@dataclass(frozen=True, slots=True)
class Correction:
    """`right` is said in place of `wrong`, which is "" where only its kind can tell it."""

    wrong: str
    right: str


@cache
def _forms(writing: Writing) -> tuple[re.Pattern[str], ...]:
    lexicon = get_lexicon(writing)
    phrase = HAN_PHRASE if writing is Writing.CHINESE else PHRASE
    forms = [*(lexicon.get("corrections.forms") or ()), *(lexicon.get("corrections.bare") or ())]
    return tuple(
        re.compile(
            form.replace("<X>", f"(?P<x>{phrase})").replace("<Y>", f"(?P<y>{phrase})"),
            re.IGNORECASE,
        )
        for form in forms
    )


def is_cued(sentence: Sentence) -> bool:
    """Whether the sentence, or the one before it, announces a correction."""
    return _announces(sentence, "corrections.cue")


def _announces(sentence: Sentence, key: str) -> bool:
    """Whether a pattern matches in a sentence, or in what ends right before it."""
    texts = (sentence.raw, sentence.before[-80:])
    return any(sentence.lexicon.has(key, text) for text in texts)


def find_plain_values(sentence: Sentence) -> list[Correction]:
    """Return the values of a sentence that is said to put something right."""
    marked = sentence.raw.startswith("*")  # as people mark what they mistyped
    if not (marked or _announces(sentence, "corrections.strong")):
        return []
    return [
        Correction("", values[0])
        for kind, values in find_values(sentence.text).items()
        if kind is not Kind.NAME and len(values) == 1
    ]


def find_corrections(sentence: Sentence) -> list[Correction]:
    """Return the corrections that a sentence may make, the most explicit first."""
    if not is_cued(sentence) or "?" in sentence.text:
        return []
    corrections: list[Correction | None] = []
    for form in _forms(sentence.writing):
        match = form.search(sentence.raw.replace("’", "'"))
        if match is None:
            continue
        wrong = (match.groupdict().get("x") or "").strip()
        right = LEADING.sub("", IS_CALLED.sub("", match["y"].strip()))
        is_cue = sentence.lexicon.pattern("corrections.strong").fullmatch(right) is not None
        if is_cue or not _is_value(right) or right.lower() == wrong.lower():
            continue
        if wrong:
            corrections.append(Correction(wrong, right))
        elif find_value(right) or _is_chinese_name(right):
            corrections += [_name_mistake(sentence.before, right), Correction("", right)]
    return [correction for correction in corrections if correction is not None]


def _name_mistake(before: str, right: str) -> Correction | None:
    """Return the correction of the value that the sentence before names, if it is of that kind."""
    last = "".join(split_sentences(before)[-1:])
    change = _find_by_kind(last, right)
    return Correction(last[change[0]], change[1]) if change else None


def _is_value(phrase: str) -> bool:
    """Whether a phrase may be put in place of another: no clause of its own."""
    words = phrase.lower().split()
    if any(character.isdigit() for character in phrase):
        return True
    if not words or words[0] in STOP_WORDS or words[-1] in STOP_WORDS:
        return False
    return len(phrase) > 1 or HAN.search(phrase) is not None


def mend(fact: str, correction: Correction) -> str | None:
    """Return a fact with the right phrase in place of the wrong one, None where it has none.

    In a quotation the new words stand in square brackets: the speaker has not said them there.
    """
    quotation = parse_quote(fact)
    text = quotation[1] if quotation else fact
    change = _find_wrong(text, correction)
    if change is None:
        return None
    place, right = change
    before, after = text[: place.start], text[place.stop :]
    if quotation:
        return quote(f"{before}[{right}]{after}", speaker=quotation[0])
    return before + right + after


def _find_wrong(text: str, correction: Correction) -> tuple[slice, str] | None:
    """Return where the mistake stands and what belongs there."""
    if correction.wrong:
        boundary = "" if HAN.search(correction.wrong) else r"\b"
        pattern = rf"{boundary}{re.escape(correction.wrong)}{boundary}"
        match = re.search(pattern, text, re.IGNORECASE)
        is_new = correction.right.lower() not in text.lower()
        return (slice(*match.span()), correction.right) if match and is_new else None
    return _find_by_kind(text, correction.right)


def _find_by_kind(text: str, right: str) -> tuple[slice, str] | None:
    """Return where a text has one value of the right one's kind, and what belongs there."""
    value = find_value(right)
    if value is None:
        return _find_alike(text, right) if _is_chinese_name(right) else None
    kind, new = value
    matches = list(kind.value.finditer(text))
    if kind is Kind.ORDINAL and not matches:
        # "The 10th" in place of "3 November" is the 10th of November.
        matches = list(Kind.DATE.value.finditer(text))
        if len(matches) == 1:
            new = DAY.sub(new, matches[0][0])
    differs = len(matches) == 1 and matches[0][0].lower() != new.lower()
    return (slice(*matches[0].span()), new) if differs else None


def _is_chinese_name(right: str) -> bool:
    return re.fullmatch(r"[\u3400-\u9fff]{2,3}", right) is not None


def _find_alike(text: str, right: str) -> tuple[slice, str] | None:
    """Return where a name stands that begins as the right one does: 李娜 for 李楠."""
    alike = re.compile(re.escape(right[0]) + r"[\u3400-\u9fff]" * (len(right) - 1))
    places = [slice(*match.span()) for match in alike.finditer(text) if match[0] != right]
    return (places[0], right) if len(places) == 1 else None


def find_value(phrase: str) -> tuple[Kind, str] | None:
    """Return the first value in a phrase with its kind; a name alone may be anything."""
    for kind in Kind:
        match = kind.value.search(f" {phrase}")
        if match is not None and kind is not Kind.NAME:
            return kind, match[0].strip()
    return None

"""Reads the details in which similar sentences may differ: numbers, dates, names, negations."""

import re

from memoryproject.text.words import STOP_WORDS, read_words, stem
from semantic.patterns import read_pattern, read_table, read_text

_UNITS = read_text("details.units").split()
_TENS = {word: 10 * tens for tens, word in enumerate(read_text("details.tens").split(), start=2)}
NUMBER_WORDS: dict[str, str] = {
    **{word: str(number) for number, word in enumerate(_UNITS)},
    **{word: str(number) for word, number in _TENS.items()},
    **read_table("number_words"),
}
DATE_WORDS = read_words("dates")
CHINESE_DATES = read_pattern("details.chinese_dates")
NEGATION = read_pattern("details.negation")
OPERATORS = read_pattern("details.operators")
ORDERED = re.compile(r"\bprefer|\bthan\b|\bfrom\b.*\bto\b|\binstead of\b|\brather\b", re.IGNORECASE)
DIRECTIONS = frozenset("for with without against from about".split())
# The date added after a time phrase: "last week (1–7 May 2023)".
ANCHOR = re.compile(r"(?:(?<!\s)\s+)?[(（\[][^()（）\[\]]{0,60}\d{4}[^()（）\[\]]{0,60}[)）\]]")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
HAN_NUMBER = read_pattern("details.han_number")
ONE_OF_A_KIND = re.compile(r"一[名个位]")
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
NAME = re.compile(r"\b(?!\w{1,2}['’](?!s\b)\w)[A-Z][\w-]*")  # no elided article: "L'ami"
NO_NAMES = STOP_WORDS | DATE_WORDS
NO_NAMES |= frozenset("since every during when while until because each although".split())
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})-({'|'.join(_UNITS[1:10])})\b", re.IGNORECASE)

_WRITTEN = re.compile(rf"\b(?:{'|'.join([*_UNITS[2:], *_TENS])})\b")


def read_numbers(text: str) -> frozenset[str]:
    """Return the numbers in `text` as digits, written-out and Chinese ones included."""
    plain = _COMPOUND.sub(_write_compound, text)
    numbers = {number.replace(",", "") for number in NUMBER.findall(plain)}
    words = (word.lower() for word in ENGLISH_WORD.findall(plain))
    numbers |= {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}
    runs = HAN_NUMBER.findall(ONE_OF_A_KIND.sub("", text))
    return frozenset(numbers | {str(parse_han_number(run)) for run in runs})


def write_numbers(text: str) -> str:
    """Return a lower-case text with "two" to "ninety-nine" as digits; "one" may be a pronoun."""
    return _WRITTEN.sub(lambda m: NUMBER_WORDS[m[0]], _COMPOUND.sub(_write_compound, text))


def _write_compound(match: re.Match[str]) -> str:
    return str(_TENS[match[1].lower()] + int(NUMBER_WORDS[match[2].lower()]))


def parse_han_number(text: str) -> int:
    """Return the number that Chinese numerals write: 四十二 is 42, 三千 3000."""
    total = part = 0
    for character in text:
        if character in _HAN_DIGITS:
            part = _HAN_DIGITS[character]
        elif character == "万":
            total, part = (total + part or 1) * _HAN_UNITS[character], 0
        else:
            total, part = total + (part or 1) * _HAN_UNITS[character], 0
    return total + part


def read_dates(text: str) -> frozenset[str]:
    """Return the words that place `text` in time; dates in brackets count as numbers instead."""
    words = {word.lower().removesuffix("s") for word in ENGLISH_WORD.findall(text)}
    return frozenset(words & DATE_WORDS) | frozenset(CHINESE_DATES.findall(text))


def read_roles(text: str) -> tuple[str, ...]:
    """Return the names in order, each once, so that "Ana lent Bo" differs from "Bo lent Ana".

    They are the capitalised words that are no function words and no dates.
    """
    names = (name.lower() for name in NAME.findall(text))
    return tuple(dict.fromkeys(name for name in names if name not in NO_NAMES))


def read_operators(text: str) -> frozenset[str]:
    """Return the stems of the words of wish, plan, doubt and quantity in `text`."""
    return frozenset(stem(word.lower()) for word in OPERATORS.findall(text))


def read_directions(text: str) -> frozenset[str]:
    """Return the small words in `text` that reverse its meaning: "for", "without"."""
    return frozenset(word for word in text.lower().split() if word in DIRECTIONS)


def count_negations(text: str) -> int:
    """Return how many words of `text` negate something."""
    return len(NEGATION.findall(text))

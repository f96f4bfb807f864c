"""The relative time phrases of each language, as patterns with their meaning."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memoryproject.text import date_meanings
from memoryproject.text.date_languages import Language
from memoryproject.text.date_meanings import CHINESE, ENGLISH, UNITS, Meaning, Rule, counted

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PARTS = {
    **_FILE["parts"],
    "weekdays": "|".join(date_meanings.WEEKDAYS),
    "months": "|".join(date_meanings.MONTHS),
}
_PART = re.compile(r"\{([a-z_]+)\}")


def _read_phrases(script: str) -> Iterator[tuple[str, Meaning]]:
    functions = vars(date_meanings)
    for meaning, *arguments, pattern in _FILE["phrases"][script]:
        values = [functions.get(argument, argument) for argument in arguments]
        words = _PART.sub(lambda part: _PARTS[part[1]], pattern)
        yield words, functions[meaning](*values)


def _phrases_of(language: Language) -> Iterator[tuple[str, Meaning]]:
    """Yield the phrases of a language that is given by its words of time."""
    for distance, words in language.days.items():
        yield words, date_meanings.days(int(distance))
    units = (
        *zip(language.units[1:], UNITS[1:], strict=True),
        (language.weekend, date_meanings.weekends),
    )
    for direction, forms in ((-1, language.last), (0, language.this), (1, language.next)):
        for form in forms:
            for words, unit in units:
                yield form.format(x=words), unit(direction)
            for index, words in enumerate(language.weekdays):
                yield form.format(x=words), date_meanings.weekday(direction, index)
            for index, words in enumerate(language.seasons):
                if direction:
                    yield form.format(x=words), date_meanings.season(index, direction)
    for sign, forms in ((-1, language.ago), (1, language.ahead)):
        for form in forms:
            for words, unit in zip(language.units, UNITS, strict=True):
                number = rf"(?P<n>\d{{1,3}}|{'|'.join(language.numbers)}) "
                yield form.format(x=number + words), counted(unit, sign, language.numbers)


@cache
def rules_of(language: Language | None) -> tuple[Rule, ...]:
    """Return the rules for a language; None: English, Chinese and Japanese."""
    if language is not None:
        return tuple(
            Rule(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), meaning, language)
            for words, meaning in _phrases_of(language)
        )
    return tuple(
        Rule(re.compile(rf"\b(?:{words})\b(?:['’]s\b)?", re.IGNORECASE), meaning, ENGLISH)
        for words, meaning in _read_phrases("english")
    ) + tuple(Rule(re.compile(words), meaning, CHINESE) for words, meaning in _read_phrases("cjk"))

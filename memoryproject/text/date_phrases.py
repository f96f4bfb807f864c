"""Patterns of relative time phrases for each language, and detection of the language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from memoryproject.process.tables import read_table
from memoryproject.text import date_meanings
from memoryproject.text.date_meanings import CHINESE, ENGLISH, UNITS, Meaning, Printer, Rule
from memoryproject.text.sentences import is_english

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
WORD = re.compile(r"[^\W\d_]+")
SAMPLE_CHARACTERS = 4_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Language(Printer):
    """A table of `date_languages.toml`: patterns, and date formats."""

    code: str
    weekdays: Sequence[str]
    seasons: Sequence[str]
    known_by: frozenset[str]
    numbers: Sequence[str]
    units: Sequence[str]
    """Words for day, week, month, year."""
    weekend: str
    days: Mapping[str, str]
    """Words for days such as "yesterday", by the distance in days."""
    last: Sequence[str]
    this: Sequence[str]
    next: Sequence[str]
    ago: Sequence[str]
    ahead: Sequence[str]


@cache
def get_languages() -> tuple[Language, ...]:
    split = ("months", "weekdays", "seasons")
    return tuple(
        Language(
            code=code,
            known_by=frozenset(table.pop("known_by").split()),
            **{key: table.pop(key).split() for key in split},
            **table,
        )
        for code, table in read_table(__file__, "date_languages").items()
    )


def find_language(text: str) -> Language | None:
    """Return the language of a text among these, None for English and all others."""
    sample = text[:SAMPLE_CHARACTERS]
    if CJK.search(sample) or is_english(sample):
        return None
    words = [word.lower() for word in WORD.findall(sample)]
    counts = [sum(word in one.known_by for word in words) for one in get_languages()]
    best = max(range(len(counts)), key=counts.__getitem__)
    return get_languages()[best] if counts[best] else None


_FILE = read_table(__file__)
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
        yield words, partial(functions[meaning], *values)


def _phrases_of(language: Language) -> Iterator[tuple[str, Meaning]]:
    """Yield the phrases of a language, from its words of time."""
    for distance, words in language.days.items():
        yield words, partial(date_meanings.days, int(distance))
    units = (
        *zip(language.units[1:], UNITS[1:], strict=True),
        (language.weekend, date_meanings.weekends),
    )
    for direction, forms in ((-1, language.last), (0, language.this), (1, language.next)):
        for form in forms:
            for words, unit in units:
                yield form.format(x=words), partial(unit, direction)
            for index, words in enumerate(language.weekdays):
                yield form.format(x=words), partial(date_meanings.weekday, direction, day=index)
            for index, words in enumerate(language.seasons):
                if direction:
                    yield form.format(x=words), partial(date_meanings.season, index, direction)
    for sign, forms in ((-1, language.ago), (1, language.ahead)):
        for form in forms:
            for words, unit in zip(language.units, UNITS, strict=True):
                number = rf"(?P<n>\d{{1,3}}|{'|'.join(language.numbers)}) "
                meaning = partial(date_meanings.counted, unit, sign, numbers=language.numbers)
                yield form.format(x=number + words), meaning


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

"""The words of time of languages beside English, Chinese and Japanese."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memoryproject.text.date_meanings import Printer
from memoryproject.text.sentences import Writing, detect_writing

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
WORD = re.compile(r"[^\W\d_]+")
SAMPLE_CHARACTERS = 4_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Language(Printer):
    """One table of `date_languages.toml`: patterns, and how a day is written."""

    code: str
    weekdays: Sequence[str]
    seasons: Sequence[str]
    known_by: frozenset[str]
    numbers: Sequence[str]
    units: Sequence[str]
    """Day, week, month, year."""
    weekend: str
    days: Mapping[str, str]
    """By the distance from the day of the message."""
    last: Sequence[str]
    this: Sequence[str]
    next: Sequence[str]
    ago: Sequence[str]
    ahead: Sequence[str]


@cache
def get_languages() -> tuple[Language, ...]:
    file = Path(__file__).with_suffix(".toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    split = ("months", "weekdays", "seasons")
    return tuple(
        Language(
            code=code,
            known_by=frozenset(table.pop("known_by").split()),
            **{key: table.pop(key).split() for key in split},
            **table,
        )
        for code, table in tables.items()
    )


def find_language(text: str) -> Language | None:
    """Return which of these languages a text is in, None for English and all others."""
    sample = text[:SAMPLE_CHARACTERS]
    if CJK.search(sample) or detect_writing(sample) is not Writing.OTHER:
        return None
    words = [word.lower() for word in WORD.findall(sample)]
    counts = [sum(word in one.known_by for word in words) for one in get_languages()]
    best = max(range(len(counts)), key=counts.__getitem__)
    return get_languages()[best] if counts[best] else None

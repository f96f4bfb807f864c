"""Loads the words and patterns of a language, one TOML file each in `lexicon/`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memoryproject.text.sentences import Writing

FOLDER = Path(__file__).parent / "lexicon"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The file of one language; a key may name a table too: "forms.bases"."""

    writing: Writing
    data: Mapping[str, Any]

    def get(self, key: str) -> Any:
        """Return what stands under a key, None where the language has no such thing."""
        value: Any = self.data
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def pattern(self, key: str) -> re.Pattern[str]:
        """Return a compiled pattern, one that matches nothing where there is none."""
        return _compile(self.get(key) or "(?!)")

    def has(self, key: str, text: str) -> bool:
        """Return whether the pattern under a key matches somewhere in a text."""
        return self.pattern(key).search(text) is not None

    def words(self, key: str) -> frozenset[str]:
        """Return a list of words, empty where there is none."""
        return _split(self.get(key) or "")


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


@cache
def get_lexicon(writing: Writing) -> Lexicon:
    """Return the words and patterns for one kind of writing."""
    path = FOLDER / f"{writing.value}.toml"
    return Lexicon(writing, tomllib.loads(path.read_text(encoding="utf-8")))

"""Loads the words and patterns of a language, one TOML file each in `lexicon/`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from memoryproject.text.sentences import Writing

FOLDER = Path(__file__).parent / "lexicon"
NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The file of one language; a key may name a table too: "forms.bases"."""

    writing: Writing
    data: Mapping[str, Any]
    _patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """Return what stands under a key, None where the language has no such thing."""
        value: Any = self.data
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def pattern(self, key: str) -> re.Pattern[str]:
        """Return a compiled pattern, one that matches nothing where there is none."""
        if key not in self._patterns:
            text = self.get(key)
            self._patterns[key] = re.compile(text, re.IGNORECASE) if text else NOTHING
        return self._patterns[key]

    def words(self, key: str) -> frozenset[str]:
        """Return a list of words, empty where there is none."""
        if key not in self._words:
            self._words[key] = frozenset((self.get(key) or "").split())
        return self._words[key]


@cache
def get_lexicon(writing: Writing) -> Lexicon:
    """Return the words and patterns for one kind of writing."""
    path = FOLDER / f"{writing.value}.toml"
    return Lexicon(writing, tomllib.loads(path.read_text(encoding="utf-8")))

"""Word lists of a language, read from `lexicons/`: stop words, and phrases that end a topic.

A new language is a new file. For any other there is `neutral.toml`, which knows no word.
"""

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from episodic.engines import Line
from memoryproject.text.words import read_words

FOLDER = Path(__file__).parent / "lexicons"
STEM_LETTERS = 8
"""Words that begin alike count as one: crude, but right in any language with endings."""
_SAMPLE = 4000
_OPENING_LETTERS = 40
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W_]+(?:['’][^\W_]+)?")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NEVER = re.compile(r"(?!)")
_QUESTION = ("?", "？", "吗", "呢", "か", "か。")


@dataclass(frozen=True, eq=False)
class Lexicon:
    """One language: `cues` are patterns by name, `title` the words that a title is made with."""

    stop: frozenset[str] = frozenset()
    introducers: frozenset[str] = frozenset()
    cues: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    title: Mapping[str, str] = field(default_factory=dict)

    def has(self, cue: str, text: str) -> bool:
        """Does the text hold one of the phrases of that name, in its place?"""
        text = text.replace("’", "'")
        if cue == "reply":
            text = text.lstrip(" \"'“.…")[:_OPENING_LETTERS]
            return bool(self.cues.get(cue, _NEVER).match(text))
        if cue in {"opening", "request", "pointing"}:
            text = text[:_OPENING_LETTERS]
        return bool(self.cues.get(cue, _NEVER).search(text))

    def is_stop(self, word: str) -> bool:
        """Return whether the word, in any case, is a stop word of this language."""
        word = word.lower()
        return word in self.stop or _bare(word) in self.stop

    def content_words(self, text: str) -> frozenset[str]:
        """Return the stems that carry meaning; pairs of characters where there are no spaces."""
        words: set[str] = set()
        for word in _WORD.findall(text.lower()):
            if _UNSPACED.match(word):
                letters = [letter for letter in word if letter not in self.stop]
                words.update(map("".join, itertools.pairwise(letters)))
            elif len(word) > 1 and not self.is_stop(word):
                words.add(_bare(word)[:STEM_LETTERS])
        return frozenset(words)


def _bare(word: str) -> str:
    """Return the word without an ending after an apostrophe."""
    return word.replace("’", "'").partition("'")[0]


def asks(text: str) -> bool:
    """Return whether the text ends as a question."""
    return text.rstrip(" \"'”’)*_~").endswith(_QUESTION)


def find_lexicon(lines: Sequence[Line]) -> Lexicon:
    """Return the lexicon whose stop words the lines use most; English if several tie."""
    tokens = _TOKEN.findall(" ".join(line.content for line in lines)[:_SAMPLE].lower())
    hits = {lexicon: sum(token in lexicon.stop for token in tokens) for lexicon in _load()}
    return max(hits, key=lambda lexicon: hits[lexicon])


@cache
def _load() -> tuple[Lexicon, ...]:
    """Return the lexicons, first the neutral one, which is used if no word is known."""
    first = ("neutral", "en")
    files = sorted(FOLDER.glob("*.toml"), key=lambda file: (*first, file.stem).index(file.stem))
    return tuple(_read(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)


def _read(rows: Mapping[str, Any]) -> Lexicon:
    return Lexicon(
        stop=frozenset(rows["stop"].split()).union(*map(read_words, rows.get("stop_lists", ()))),
        introducers=frozenset(rows.get("introducers", "").split()),
        cues={name: _compile(row) for name, row in rows.items() if isinstance(row, list)},
        title=rows["title"],
    )


def _compile(phrases: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for any of the phrases; whole words where a script has spaces."""
    parts = []
    for phrase in phrases:
        part = re.escape(phrase).replace(r"\*", r"\w*")
        parts.append(part if _UNSPACED.search(phrase) else rf"(?<!\w){part}(?!\w)")
    return re.compile("|".join(parts), re.IGNORECASE)

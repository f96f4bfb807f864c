"""Made-up sentences whose words are as frequent as those of real text.

English words as they come, thousands of them, so that a tokenizer needs about as many pieces as
for what people write; rare words are put together from two short ones.
"""

from __future__ import annotations

import re
from collections import Counter
from pydoc_data import topics as manual

import numpy as np

from memoryproject.text.words import STOP_WORDS

VOCABULARY_SIZE = 50_000
COMMON = sorted(STOP_WORDS)
"""Words of every text: they take the first ranks."""
SHORT = 6
"""Letters of a word that is put together with another."""
LENGTHS = (6, 14)
"""Words of a sentence, the least and the most."""


class Wording:
    """Draws words by their rank in the language: the chance of each is as 1 / rank (Zipf)."""

    def __init__(self, *, seed: int) -> None:
        english = _read_english()
        rare = _make_rare(np.random.default_rng(seed), english)
        self._words = [*COMMON, *english, *rare]
        chances = np.cumsum(1 / np.arange(1, len(self._words) + 1))
        self._chances = chances / chances[-1]

    def _draw(self, rng: np.random.Generator, count: int) -> list[int]:
        drawn: list[int] = np.searchsorted(self._chances, rng.random(count)).tolist()
        return drawn

    def write(self, rng: np.random.Generator) -> str:
        """Return a sentence."""
        drawn = self._draw(rng, int(rng.integers(*LENGTHS, endpoint=True)))
        return f"{' '.join(self._words[index] for index in drawn).capitalize()}."

    def ask(self, rng: np.random.Generator, length: int) -> str:
        """Return a question of different words, frequent and rare, none in every text."""
        content = [index for index in self._draw(rng, length * 6) if index >= len(COMMON)]
        return " ".join(self._words[index] for index in list(dict.fromkeys(content))[:length])


def _read_english() -> list[str]:
    """Return English words, frequent ones first: those of Python's own manual."""
    found = Counter(re.findall(r"\b[a-z]{3,12}\b", " ".join(manual.topics.values()).lower()))
    return [word for word, _ in found.most_common() if word not in COMMON]


def _make_rare(rng: np.random.Generator, english: list[str]) -> list[str]:
    """Return words put together from two short ones, until the vocabulary is full."""
    short = [word for word in english if len(word) <= SHORT]
    pairs = rng.integers(len(short), size=(2 * VOCABULARY_SIZE, 2)).tolist()
    made = dict.fromkeys(short[first] + short[second] for first, second in pairs)
    return list(made)[: VOCABULARY_SIZE - len(english)]

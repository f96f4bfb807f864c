"""Made-up sentences whose words are as frequent as those of real text.

English words as they come, thousands of them, so that a tokenizer needs about as many pieces as
for what people write; rare words are put together from two short ones.
"""

from __future__ import annotations

import re
from collections import Counter
from pydoc_data import topics as manual

import numpy as np
import numpy.typing as npt

VOCABULARY_SIZE = 50_000
WORDS_A_TOPIC = 300
FREQUENT_SHARE = 2 / 3
"""Of a topic's words that are English words, not put together."""
SHORT = 6
"""Letters of a word that is put together with another."""
TOPIC_SHARE = 0.5
"""Of a text's words; the others come from the whole vocabulary."""
LENGTHS = (6, 14)
"""Words of a sentence, the least and the most."""

# The most frequent words of English take the first ranks, as they do in real text.
FUNCTION_WORDS = (
    "the of and to a in that it is was i for on you he be with as by at have are this not "
    "but had his they from she which or we an there were one do been all their has would "
    "will what if can when so no said who more about up them some could him into its then"
).split()


class Wording:
    """Draws words: half by their rank in the language (Zipf), half by their rank in a topic."""

    def __init__(self, *, seed: int, topics: int) -> None:
        rng = np.random.default_rng([seed, 1])
        english = _read_english()
        self._words = [*FUNCTION_WORDS, *english, *_make_rare(rng, english)]
        self._language, self._topic = _zipf(len(self._words)), _zipf(WORDS_A_TOPIC)
        first, rare = len(FUNCTION_WORDS), len(FUNCTION_WORDS) + len(english)
        frequent = round(WORDS_A_TOPIC * FREQUENT_SHARE)
        self._topics = [
            rng.permutation(
                [
                    *rng.choice(np.arange(first, rare), frequent, replace=False),
                    *rng.choice(np.arange(rare, len(self._words)), WORDS_A_TOPIC - frequent),
                ]
            )
            for _ in range(topics)
        ]

    def _draw(self, rng: np.random.Generator, topic: int, count: int) -> list[int]:
        anywhere = np.searchsorted(self._language, rng.random(count))
        topical = self._topics[topic][np.searchsorted(self._topic, rng.random(count))]
        drawn: list[int] = np.where(rng.random(count) < TOPIC_SHARE, topical, anywhere).tolist()
        return drawn

    def write(self, rng: np.random.Generator, topic: int) -> str:
        """Return a sentence on a topic."""
        drawn = self._draw(rng, topic, int(rng.integers(*LENGTHS, endpoint=True)))
        return f"{' '.join(self._words[index] for index in drawn).capitalize()}."

    def ask(self, rng: np.random.Generator, topic: int, length: int) -> str:
        """Return a question of different words, frequent and rare, none a function word."""
        drawn = self._draw(rng, topic, length * 6)
        content = [index for index in drawn if index >= len(FUNCTION_WORDS)]
        return " ".join(self._words[index] for index in list(dict.fromkeys(content))[:length])


def _zipf(count: int) -> npt.NDArray[np.float64]:
    """Return the cumulated chances of ranks 1 … count, each 1 / rank."""
    cumulated = np.cumsum(1 / np.arange(1, count + 1))
    shares: npt.NDArray[np.float64] = cumulated / cumulated[-1]
    return shares


def _read_english() -> list[str]:
    """Return English words, frequent ones first: those of Python's own manual."""
    found = Counter(re.findall(r"\b[a-z]{3,12}\b", " ".join(manual.topics.values()).lower()))
    return [word for word, _ in found.most_common() if word not in FUNCTION_WORDS]


def _make_rare(rng: np.random.Generator, english: list[str]) -> list[str]:
    """Return words put together from two short ones, until the vocabulary is full."""
    short = [word for word in english if len(word) <= SHORT]
    made: dict[str, None] = {}
    while len(made) < VOCABULARY_SIZE - len(english):
        first, second = rng.choice(len(short), 2)
        made[short[first] + short[second]] = None
    return list(made)

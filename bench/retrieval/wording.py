"""Made-up text whose words are as frequent as those of real text, and cost a model as much.

English words as they come, thousands of them, so that a tokenizer needs about as many
pieces as for what people write; rare words are put together from two short ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pydoc_data import topics as manual

import numpy as np
import numpy.typing as npt

Indexes = npt.NDArray[np.int64]

VOCABULARY_SIZE = 50_000
TOPIC_COUNT = 1_000
WORDS_A_TOPIC = 300
FREQUENT_SHARE = 2 / 3
"""Of a topic's words that are English words, not put together."""
SHORT = 6
"""Letters of a word that is put together with another."""
TOPIC_SHARE = 0.5
"""Of a text's words; the others come from the whole vocabulary."""

# The most frequent words of English take the first ranks, as they do in real text.
FUNCTION_WORDS = (
    "the of and to a in that it is was i for on you he be with as by at have are this not "
    "but had his they from she which or we an there were one do been all their has would "
    "will what if can when so no said who more about up them some could him into its then"
).split()


class Wording:
    """Draws words: half by their rank in the language (Zipf), half by their rank in a topic."""

    def __init__(self, *, seed: int) -> None:
        rng = np.random.default_rng([seed, 1])
        english = _read_english()
        self.words = np.array([*FUNCTION_WORDS, *english, *_make_rare(rng, english)], dtype=object)
        self._language = _zipf(len(self.words))
        self._topic = _zipf(WORDS_A_TOPIC)
        first_rare = len(FUNCTION_WORDS) + len(english)
        self._topics: Indexes = np.stack(
            [self._choose_topic(rng, first_rare) for _ in range(TOPIC_COUNT)]
        )

    def _choose_topic(self, rng: np.random.Generator, first_rare: int) -> Indexes:
        """Return the words of a topic, frequent ones and rare ones mixed."""
        frequent = round(WORDS_A_TOPIC * FREQUENT_SHARE)
        chosen = [
            rng.choice(np.arange(len(FUNCTION_WORDS), first_rare), frequent, replace=False),
            rng.choice(
                np.arange(first_rare, len(self.words)), WORDS_A_TOPIC - frequent, replace=False
            ),
        ]
        return rng.permutation(np.concatenate(chosen))

    def draw(self, rng: np.random.Generator, topics: Indexes) -> Indexes:
        """Return one word, as an index into `words`, for each topic given."""
        topical = rng.random(len(topics)) < TOPIC_SHARE
        chance = rng.random(len(topics))
        drawn = np.searchsorted(self._language, chance)
        places = np.searchsorted(self._topic, chance[topical])
        drawn[topical] = self._topics[topics[topical], places]
        return drawn

    def write(self, rng: np.random.Generator, topics: Indexes, lengths: Indexes) -> list[str]:
        """Return one sentence for each topic, of as many words as `lengths` says."""
        drawn = self.words[self.draw(rng, np.repeat(topics, lengths))].tolist()
        ends = np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        return [
            f"{' '.join(drawn[start:end]).capitalize()}."
            for start, end in zip(starts, ends, strict=True)
        ]

    def ask(self, rng: np.random.Generator, topics: Sequence[int], length: int) -> str:
        """Return a question of `length` different words, frequent and rare, none a function word.

        All words come from one of the topics and from the whole vocabulary, in the
        shares in which texts of that topic have them.
        """
        topic = int(rng.choice(np.asarray(topics)))
        drawn = self.draw(rng, np.full(length * 6, topic))
        content = [index for index in drawn.tolist() if index >= len(FUNCTION_WORDS)]
        return " ".join(self.words[list(dict.fromkeys(content))[:length]])


def _zipf(count: int) -> npt.NDArray[np.float64]:
    """Return the cumulated chances of ranks 1 … count, each 1 / rank."""
    cumulated = np.cumsum(1 / np.arange(1, count + 1))
    total: npt.NDArray[np.float64] = cumulated / cumulated[-1]
    return total


def _read_english() -> list[str]:
    """Return English words, frequent ones first: those of Python's own manual."""
    found = Counter(re.findall(r"\b[a-z]{3,12}\b", " ".join(manual.topics.values()).lower()))
    return [word for word, _ in found.most_common() if word not in FUNCTION_WORDS]


def _make_rare(rng: np.random.Generator, english: Sequence[str]) -> list[str]:
    """Return words put together from two short ones, until the vocabulary is full."""
    short = [word for word in english if len(word) <= SHORT]
    made: dict[str, None] = {}
    while len(made) < VOCABULARY_SIZE - len(english):
        first, second = rng.choice(len(short), 2)
        made[short[first] + short[second]] = None
    return list(made)

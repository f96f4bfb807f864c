"""What the notes say: made-up text, and vectors that lie about each other as real ones do."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench.retrieval.wording import TOPIC_COUNT, Wording
from memoryproject.ai import embeddings

SHORTEST, LONGEST = 20, 40
"""Words of a note."""
A_TOPIC = 200
"""Notes on one topic, on average."""
SPREAD = 0.44
"""Length of the noise beside the vector of a topic: with it the cosines of questions and notes
lie where those of real questions and messages lie (`docs/concepts/search.md`)."""

Vectors = npt.NDArray[np.float32]


class Texts:
    """Texts on some topics. A vector is that of a text on the topic, made by the model, with noise:
    so a question's own vector has as many near ones, and as near, as it would have among
    embedded notes, and nobody waits for the model an hour.
    """

    def __init__(self, *, seed: int, notes: int) -> None:
        self._seed = seed
        self._wording = Wording(seed=seed)
        self._chance = np.random.default_rng([seed, 8, time.time_ns()])
        self._topics = min(TOPIC_COUNT, max(1, notes // A_TOPIC))
        embedder = embeddings.get_embedder()
        self.model = embedder.name
        rng = np.random.default_rng([seed, 6])
        topics = np.arange(self._topics)
        samples = self._wording.write(rng, topics, np.full(self._topics, LONGEST))
        self._centres = embedder.embed_passages(samples)

    def write(self, numbers: Sequence[int]) -> tuple[list[str], Vectors]:
        """Return the texts of some notes and their vectors; the same again for the same run."""
        rng = np.random.default_rng([self._seed, 7, numbers[0]])
        topics = rng.integers(self._topics, size=len(numbers))
        texts = self._wording.write(rng, topics, rng.integers(SHORTEST, LONGEST + 1, len(numbers)))
        dim = self._centres.shape[1]
        noise = rng.standard_normal((len(numbers), dim), dtype=np.float32)
        vectors = self._centres[topics] + noise * np.float32(SPREAD / np.sqrt(dim))
        return texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def ask(self, words: int) -> str:
        """Return a question about one of the topics, frequent and rare words mixed.

        Another one each time, in every run: no cache knows it.
        """
        return self._wording.ask(self._chance, list(range(self._topics)), words)

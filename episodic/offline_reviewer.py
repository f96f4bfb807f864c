"""Judges without a model how the talk after a retrieval used each served episode.

A line uses an episode when it says its rare words again and means about the same. Both
are needed: cosines of multilingual-e5 are narrow (unrelated lines and episodes lie at
.75 to .88), and a single shared word is an accident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from episodic import discourse_cues as cues
from episodic.engines import Judgement, Line, Rating, ServedEpisode, Vectors

ENGINE = "offline"

UNRELATED_COSINE = 0.84
"""Median cosine of a LoCoMo line with an episode of another day, whole sentences."""
COSINE_WEIGHT = 10.0
WORD_WEIGHT = 0.15
NAME_OR_NUMBER_WEIGHT = 0.25
ASKED_WORD_FACTOR = 0.5
"""A word of the query comes back whether or not the episode helped."""
LISTENER_FACTOR = 0.7
"""What others than the assistant say shows less that the memory was used."""

HARD_FROM = 0.6
GOOD_FROM = 0.9
EASY_FROM = 1.6
"""Fitted on LoCoMo: of the episodes that a talk had nothing to do with, 86 % stay below
hard and 96 % below good; of those whose evidence it quoted, half reach hard and four in
ten good (the others' evidence is not in their summary, which is all that can be seen).
"""
LINES_THAT_MAKE_IT_CENTRAL = 2


class OfflineReviewer:
    """Implements `Reviewer` by shared words and cosines."""

    def review(
        self, *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
    ) -> Judgement:
        """Rate every served episode; nothing is rated before anything was said."""
        if not lines:
            return Judgement(ratings={}, engine=ENGINE)
        words = [_episode_words(episode) for episode in served]
        found_in = Counter(word for bag in words for word in bag)
        speakers = {part for line in lines for part in cues.content_words(line.speaker)}
        ratings = {}
        for episode, bag in zip(served, words, strict=True):
            rare = {word for word in bag - speakers if 2 * found_in[word] <= len(served) + 1}
            uses = measure_uses(episode=episode, rare=rare, lines=lines, vectors=vectors)
            ratings[episode.alias] = rate_uses(uses)
        return Judgement(ratings=ratings, engine=ENGINE)


def measure_uses(
    *, episode: ServedEpisode, rare: set[str], lines: Sequence[Line], vectors: Vectors
) -> list[float]:
    """Return how strongly each line uses the episode: 0.0 not at all, above 1.5 throughout."""
    asked = cues.content_words(episode.query)
    cosines = vectors.astype(np.float64) @ episode.vector.astype(np.float64)
    uses = []
    for line, cosine in zip(lines, cosines, strict=True):
        shared = cues.content_words(line.content) & rare
        worth = sum(_word_worth(word, asked) for word in shared)
        if worth:
            worth += COSINE_WEIGHT * (float(cosine) - UNRELATED_COSINE)
        uses.append(max(worth, 0.0) * (1.0 if line.role == "assistant" else LISTENER_FACTOR))
    return uses


def rate_uses(uses: Sequence[float]) -> Rating:
    """Return the rating: the strongest line decides, a second strong one makes it easy."""
    best = max(uses)
    strong = sum(use >= GOOD_FROM for use in uses)
    if best >= EASY_FROM or strong > LINES_THAT_MAKE_IT_CENTRAL:
        return Rating.EASY
    if best >= GOOD_FROM:
        return Rating.GOOD
    return Rating.HARD if best >= HARD_FROM else Rating.AGAIN


def _episode_words(episode: ServedEpisode) -> frozenset[str]:
    return cues.content_words(f"{episode.title} {episode.summary}")


def _word_worth(word: str, asked: frozenset[str]) -> float:
    worth = NAME_OR_NUMBER_WEIGHT if any(map(str.isdigit, word)) else WORD_WEIGHT
    return worth * ASKED_WORD_FACTOR if word in asked else worth

"""Judges without a model how the talk after a retrieval used each served episode.

A line uses an episode when it says words of its title and summary that few other lines
and few other served episodes have, and when it lies closer to it than to the others.
Closeness alone proves nothing: the same people talk on about much the same matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from episodic import discourse_cues as cues
from episodic.engines import Judgement, Line, Rating, ServedEpisode, Vectors
from episodic.offline_phrases import SMALL_TALK

ENGINE = "offline"

WORD_WEIGHT = 0.4
ASKED_WORD_FACTOR = 0.5
"""A word of the query comes back whether or not the episode helped."""
LINES_TO_SHARE_A_WORD = 2
"""An answer and a remark on it; said in more lines, a word is the talk's own."""
SHARE_WEIGHT = 0.8
"""For a line that says nothing else: "Sweden" answers as well as a sentence does."""
COSINE_WEIGHT = 3.2
"""For cosines above the mean of the served episodes, whatever the level of the model."""
LISTENER_FACTOR = 0.3
"""What others than the assistant say shows less that the memory was used."""

HARD_FROM = 0.7
GOOD_FROM = 1.0
EASY_FROM = 3.0
"""Of the episodes served for a question that nobody answers one in five gets to hard and one in
seventeen to good, though the same people talk on; hardly any to easy. Fitted on three
conversations of LoCoMo, checked on two others by `manage.py evaluate_reviews --part even`.
"""
LINES_THAT_MAKE_IT_CENTRAL = 2


class OfflineReviewer:
    """Implements `Reviewer` by shared words and cosines."""

    def review(
        self, *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
    ) -> Judgement:
        """Rate every served episode; nothing is rated before anything was said."""
        if not lines or not served:
            return Judgement(ratings={}, engine=ENGINE)
        uses = measure_served(served=served, lines=lines, vectors=vectors)
        return Judgement(
            ratings={
                episode.alias: rate_uses(found) for episode, found in zip(served, uses, strict=True)
            },
            engine=ENGINE,
        )


def measure_served(
    *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
) -> list[list[float]]:
    """Return how strongly each line uses each episode: 0.0 not at all, from 2.0 throughout.

    A list an episode, with a number a line.
    """
    said = [cues.content_words(line.content) for line in lines]
    told = [cues.content_words(f"{episode.title} {episode.summary}") for episode in served]
    lines_with, episodes_with = count_members(said), count_members(told)
    speakers = {part for line in lines for part in cues.content_words(line.speaker)}
    measured = []
    for episode, bag, closer in zip(served, told, _compare(served, vectors), strict=True):
        rare = {word for word in bag if 2 * episodes_with[word] <= len(served) + 1}
        rare -= speakers | SMALL_TALK
        worths = {word: _worth(word, episode.query, lines_with) for word in sorted(rare)}
        uses = []
        for line, words, cosine in zip(lines, said, closer, strict=True):
            use = _measure_words(words, worths)
            use = max(use + COSINE_WEIGHT * float(cosine), 0.0) if use else 0.0
            uses.append(use * _weigh_role(line))
        measured.append(uses)
    return measured


def count_members(bags: Sequence[frozenset[str]]) -> Counter[str]:
    """Return in how many of the bags each word is."""
    return Counter(word for bag in bags for word in bag)


def _worth(word: str, query: str, lines_with: Counter[str]) -> float:
    """Return what a word proves that a line shares with an episode, up to 1.0."""
    worth = LINES_TO_SHARE_A_WORD / max(lines_with[word], LINES_TO_SHARE_A_WORD)
    return worth * ASKED_WORD_FACTOR if word in cues.content_words(query) else worth


def _measure_words(words: frozenset[str], worths: Mapping[str, float]) -> float:
    """Return the use that lies in a line's words: their sum, and their share of the line."""
    total = sum(worth for word, worth in worths.items() if word in words)
    return total * (WORD_WEIGHT + SHARE_WEIGHT / max(len(words), 2))


def _weigh_role(line: Line) -> float:
    return 1.0 if line.role == "assistant" else LISTENER_FACTOR


def _compare(served: Sequence[ServedEpisode], vectors: Vectors) -> Vectors:
    """Return how much closer each line (a column) is to an episode (a row) than to the mean."""
    cosines: Vectors = np.stack([episode.vector for episode in served]) @ vectors.T
    return np.asarray(cosines - cosines.mean(axis=0), dtype=np.float32)


def rate_uses(uses: Sequence[float]) -> Rating:
    """Return the rating: the strongest line decides, a second strong one makes it easy."""
    best = max(uses)
    strong = sum(use >= GOOD_FROM for use in uses)
    if best >= EASY_FROM or strong > LINES_THAT_MAKE_IT_CENTRAL:
        return Rating.EASY
    if best >= GOOD_FROM:
        return Rating.GOOD
    return Rating.HARD if best >= HARD_FROM else Rating.AGAIN

"""Rates, without a language model, how the messages after a retrieval used each served episode.

A line uses an episode when it says words of its title and summary that few other lines and few
other served episodes have, and when it lies closer to it than to the others. Closeness alone proves
nothing: the same people talk on about much the same matters.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from episodic.engines import Judgement, Line, Rating, ServedEpisode, Vectors
from episodic.offline.lexicon import find_lexicon

ENGINE = "offline"

WORD_WEIGHT = 0.4
ASKED_WORD_FACTOR = 0.5
"""Weight of a word of the query: it is repeated whether or not the episode helped."""
LINES_TO_SHARE_A_WORD = 2
"""Number of lines a word may be in and still count: an answer, and a remark on it."""
SHARE_WEIGHT = 0.8
"""Weight of the share of a line's words that were served: "Sweden" answers, too."""
COSINE_WEIGHT = 3.2
"""Weight of a cosine above the mean of the served episodes, whatever the model's level."""
LISTENER_FACTOR = 0.3
"""Weight of lines by others than the assistant, which show less that the memory was used."""

HARD_FROM = 0.8
GOOD_FROM = 1.1
EASY_FROM = 3.5
"""Scores from which an episode that was served is rated good or easy.

Of the episodes served for a question that nobody answers, one in five is rated hard and one in
twenty good, since the same people go on talking; none is rated easy. Fitted on three
conversations of LoCoMo, checked on two others by `python -m bench.quality reviews --part even`.
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
                episode.alias: rate_uses(row) for episode, row in zip(served, uses, strict=True)
            },
            engine=ENGINE,
        )


def measure_served(
    *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
) -> list[list[float]]:
    """Return how strongly each line uses each episode: from 0.0, not at all, to 2.0 or more.

    One list for each episode, with one number for each line.
    """
    find_words = find_lexicon(lines).content_words
    line_words = [find_words(line.content) for line in lines]
    episode_words = [find_words(f"{episode.title} {episode.summary}") for episode in served]
    lines_with, episodes_with = Counter(chain(*line_words)), Counter(chain(*episode_words))
    speakers = {word for line in lines for word in find_words(line.speaker)}
    cosines = np.stack([episode.vector for episode in served]) @ vectors.T
    closer = cosines - cosines.mean(axis=0)
    measured = []
    for episode, bag, row in zip(served, episode_words, closer, strict=True):
        query_words = find_words(episode.query)
        worths = {
            word: LINES_TO_SHARE_A_WORD
            / max(lines_with[word], LINES_TO_SHARE_A_WORD)
            * (ASKED_WORD_FACTOR if word in query_words else 1.0)
            for word in sorted(bag - speakers)
            if 2 * episodes_with[word] <= len(served) + 1
        }
        uses = []
        for line, words, cosine in zip(lines, line_words, row, strict=True):
            total = sum(worth for word, worth in worths.items() if word in words)
            use = total * (WORD_WEIGHT + SHARE_WEIGHT / max(len(words), 2))
            use = max(use + COSINE_WEIGHT * float(cosine), 0.0) if use else 0.0
            uses.append(use if line.role == "assistant" else use * LISTENER_FACTOR)
        measured.append(uses)
    return measured


def rate_uses(uses: Sequence[float]) -> Rating:
    """Return the rating by the line that uses it most; several strong lines make it easy."""
    best = max(uses)
    strong = sum(use >= GOOD_FROM for use in uses)
    if best >= EASY_FROM or strong > LINES_THAT_MAKE_IT_CENTRAL:
        return Rating.EASY
    if best >= GOOD_FROM:
        return Rating.GOOD
    return Rating.HARD if best >= HARD_FROM else Rating.AGAIN

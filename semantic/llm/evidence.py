"""Finds the messages that support a row of a model's answer. Pure."""

import itertools
from collections.abc import Collection, Sequence

from episodic.engines import Line
from semantic.details import read_numbers, read_roles
from semantic.echoes import content_words
from semantic.engines import EpisodeText
from semantic.topics import find_shared, read_topics, read_topics_of_fact

Source = tuple[int, list[Line]]
"""An episode, by its index, and the seqs of messages in it."""


def find_source(
    numbers: Collection[int],
    sentence: str,
    *,
    episodes: Sequence[EpisodeText],
    seqs: Collection[int],
    people: Collection[str],
) -> Source | None:
    """Return the messages with these numbers, of the first episode that has any.

    If none of them was shown: the message of `seqs` with the most words of `sentence`, at least
    more than half, or half with a name or number among them. None: no message says it.
    """
    wanted = set(numbers) & set(seqs)
    for index, episode in enumerate(episodes):
        if lines := [line for line in episode.lines if line.seq in wanted]:
            return index, lines
    return _look_up(sentence, episodes, seqs, people)


def _look_up(
    sentence: str,
    episodes: Sequence[EpisodeText],
    seqs: Collection[int],
    people: Collection[str],
) -> Source | None:
    topics = read_topics_of_fact(sentence, people=people)
    telling = {*content_words(" ".join(read_roles(sentence)[1:])), *read_numbers(sentence)}
    best: Source | None = None
    most = 0.0
    for index, episode in enumerate(episodes):
        for line in episode.lines:
            shared = find_shared(topics, read_topics(line.content, people=people))
            score = len(shared) + (0.5 if shared & telling else 0)
            if line.seq in seqs and score > max(most, len(topics) / 2):
                best, most = (index, [line]), score
    return best


def add_question(source: Source, episodes: Sequence[EpisodeText]) -> list[Line]:
    """Return a source's messages, each with the message before it, which it may answer."""
    index, lines = source
    seqs = {line.seq for line in lines}
    all_lines = episodes[index].lines
    before = {early.seq for early, late in itertools.pairwise(all_lines) if late.seq in seqs}
    return [line for line in all_lines if line.seq in seqs | before]

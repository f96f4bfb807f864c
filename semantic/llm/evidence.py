"""Finds the messages that a row of a model's answer rests on. Pure."""

import itertools
from collections.abc import Collection, Sequence

from episodic.engines import Line
from semantic.details import read_numbers, read_roles
from semantic.echoes import content_words
from semantic.engines import EpisodeText
from semantic.topics import find_shared, read_topics, read_topics_of_fact

Source = tuple[int, list[Line]]
"""The index of an episode, and messages of it."""


def find_source(
    numbers: Collection[int],
    sentence: str,
    *,
    episodes: Sequence[EpisodeText],
    seqs: Collection[int],
    people: Collection[str],
) -> Source | None:
    """Return the messages with these numbers, of the first episode that has any.

    Where none of them was shown, of those that `seqs` names the one that holds most words of
    the `sentence`: more than half of them, or half and a name or number among them. None:
    nobody says it.
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
    """Return the messages of a source with the one before each, which they may answer."""
    index, lines = source
    seqs = {line.seq for line in lines}
    all_lines = episodes[index].lines
    before = {early.seq for early, late in itertools.pairwise(all_lines) if late.seq in seqs}
    return [line for line in all_lines if line.seq in seqs | before]

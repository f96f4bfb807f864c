"""Running the offline segmenter over dialogues whose topics have titles and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from episodic.engines import Line, Segment
from episodic.loading import UnreadableFile
from episodic.models import Role
from episodic.offline_segmenter import OfflineSegmenter, describe_segment
from episodic.offline_surprise import line_surprises
from episodic.text_sizes import count_words
from memoryproject.ai.embeddings import embed_passages
from operations.boundary_metrics import Boundaries
from operations.labelled_files import check_cases, read_objects
from operations.segmentation_evaluation import SOME_TIME
from operations.wording_metrics import Wording, rouge_l

ROLES = {"user": Role.USER, "bot": Role.ASSISTANT, "assistant": Role.ASSISTANT}
"""Labels that stand for a role; any other is a speaker's name."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A true segment: local indexes, both ends included; `summary` may be empty."""

    first: int
    last: int
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue with its true topics, in order and without holes."""

    id: Any
    lines: tuple[Line, ...]
    topics: tuple[Topic, ...]


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file in MemoChat's form.

    Raises:
        UnreadableFile: it does not hold such dialogues; the message says where.
    """
    dialogues: list[Dialogue] = []
    for where, given in read_objects(path):
        try:
            dialogues.append(_to_dialogue(given))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(
                f'{where} must be {{"id", "utt": [[speaker, text]], "segments": [{{"start", "end", '
                '"topic", "summary"}]}, the segments from 1 to the last utterance without holes.'
            ) from error
    check_cases(path, [{"id": dialogue.id} for dialogue in dialogues])
    return dialogues


def _to_dialogue(given: Mapping[str, Any]) -> Dialogue:
    lines = tuple(_to_line(seq, *said) for seq, said in enumerate(given["utt"]))
    topics = tuple(
        Topic(
            first=int(topic["start"]) - 1,
            last=int(topic["end"]) - 1,
            title=topic["topic"].strip(),
            summary=(topic.get("summary") or "").strip(),
        )
        for topic in given["segments"]
    )
    starts = [0, *(topic.last + 1 for topic in topics)]
    if [*(topic.first for topic in topics), len(lines)] != starts or len(lines) < 2:
        raise ValueError("segments")
    if any(topic.first > topic.last or not topic.title for topic in topics):
        raise ValueError("a segment")
    return Dialogue(given["id"], lines, topics)


def _to_line(seq: int, speaker: str, words: str) -> Line:
    role = ROLES.get(speaker.strip().lower())
    name = "" if role else speaker.strip()
    return Line(seq, role or Role.USER, name, words.strip(), SOME_TIME)


def make_episodes(dialogue: Dialogue, *, true_boundaries: bool) -> tuple[Segment, ...]:
    """Return what the offline segmenter makes of the dialogue, given to it as one window.

    With `true_boundaries` it only names and summarises the true topics.
    """
    vectors = embed_passages([line.text for line in dialogue.lines])
    if true_boundaries:
        surprise = line_surprises(dialogue.lines, vectors)
        return tuple(
            describe_segment(dialogue.lines, vectors, surprise, topic.first, topic.last)
            for topic in dialogue.topics
        )
    found = OfflineSegmenter().segment(lines=dialogue.lines, vectors=vectors, previous_summary="")
    return found.segments


def make_all(
    dialogues: Sequence[Dialogue], *, true_boundaries: bool, report: Callable[[int], None]
) -> list[tuple[Segment, ...]]:
    """Return the episodes of each dialogue, in order."""
    made = []
    for dialogue in dialogues:
        made.append(make_episodes(dialogue, true_boundaries=true_boundaries))
        report(1)
    return made


def to_boundaries(dialogue: Dialogue, episodes: Sequence[Segment]) -> Boundaries:
    """Return where the dialogue is cut and where it should be."""
    return Boundaries(
        utterances=len(dialogue.lines),
        true=frozenset(topic.last for topic in dialogue.topics[:-1]),
        guessed=frozenset(episode.last for episode in episodes[:-1]),
    )


def to_prediction(dialogue: Dialogue, episodes: Sequence[Segment]) -> dict[str, Any]:
    """Return the episodes in the scorer's format, which counts utterances from 1."""
    return {
        "id": dialogue.id,
        "episodes": [
            {
                "start": episode.first + 1,
                "end": episode.last + 1,
                "title": episode.title,
                "summary": episode.summary,
                "surprise": episode.surprise,
            }
            for episode in episodes
        ],
    }


def compare_wording(
    dialogues: Sequence[Dialogue], made: Sequence[Sequence[Segment]]
) -> list[Wording]:
    """Return how each true topic is worded by the episode that overlaps most with it."""
    pairs = [
        (topic, max(episodes, key=lambda episode: _overlap(topic, episode)))
        for dialogue, episodes in zip(dialogues, made, strict=True)
        for topic in dialogue.topics
    ]
    titles = _cosines([(topic.title, episode.title) for topic, episode in pairs])
    summaries = _cosines([(topic.summary, episode.summary) for topic, episode in pairs])
    return [
        Wording(
            shared_lines=_overlap(topic, episode) / _span(topic, episode),
            title_cosine=title,
            title_words=count_words(episode.title),
            summary_cosine=summary if topic.summary else None,
            summary_rouge_l=rouge_l(topic.summary, episode.summary) if topic.summary else None,
            summary_words=count_words(episode.summary),
        )
        for (topic, episode), title, summary in zip(pairs, titles, summaries, strict=True)
    ]


def _cosines(pairs: Sequence[tuple[str, str]]) -> list[float]:
    wanted = embed_passages([pair[0] for pair in pairs])
    made = embed_passages([pair[1] for pair in pairs])
    return [float(cosine) for cosine in np.einsum("ij,ij->i", wanted, made)]


def _overlap(topic: Topic, episode: Segment) -> int:
    """Return how many lines both have."""
    return max(0, min(topic.last, episode.last) - max(topic.first, episode.first) + 1)


def _span(topic: Topic, episode: Segment) -> int:
    """Return how many lines lie between the outer ends of the two."""
    return max(topic.last, episode.last) - min(topic.first, episode.first) + 1

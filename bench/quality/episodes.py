"""Boundaries, titles and summaries of the offline engine's episodes, against MemoChat's.

Each dialogue is one window. The cosines are by the configured embedder and only tell one
version of ours from another; the official ones come from the scorer, which reads what --out
writes. Needs no database.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.quality.boundaries import mean_score
from bench.quality.dialogues import WITH_TITLES, Dialogue, Topic, read_dialogues, segment
from bench.quality.report import Report
from bench.tables import render_table
from episodic.engines import Segment
from episodic.text_sizes import count_words
from memoryproject.ai.embeddings import embed_passages

WORD = re.compile(r"\w+")
TITLE_WORDS = range(5, 16)
SUMMARY_WORDS = range(1, 51)
KEY_MOMENT, FLASHBULB = 0.7, 0.85


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    form = '{"id", "utt": [[speaker, text]], "segments": [{"start", "end", "topic", "summary"}]}'
    parser.add_argument("path", type=Path, help=f"*.jsonl or *.jsonl.gz, {form} a line")
    parser.add_argument("--out", type=Path, help="where the episodes are written")


def measure(options: Namespace) -> Report:
    """Return means over dialogues, topics and episodes."""
    dialogues = read_dialogues(options.path, WITH_TITLES)
    pairs = [(dialogue, segment(dialogue)) for dialogue in tqdm(dialogues, unit=" dialogues")]
    cases = [dialogue.compare(episodes) for dialogue, episodes in pairs]
    figures = mean_score(cases) | compare_wording(pairs)
    figures |= spread_surprise([e.surprise for _, episodes in pairs for e in episodes])
    shown = [(name, value) for name, value in figures.items() if value is not None]
    return Report(
        figures,
        render_table(["figure", "value"], shown),
        tuple(to_prediction(*pair) for pair in pairs),
    )


def to_prediction(dialogue: Dialogue, episodes: Sequence[Segment]) -> dict[str, Any]:
    """Return the episodes in the scorer's format, which counts utterances from 1."""
    rows = [
        {"start": e.first + 1, "end": e.last + 1}
        | {"title": e.title, "summary": e.summary, "surprise": e.surprise}
        for e in episodes
    ]
    return {"id": dialogue.id, "episodes": rows}


def compare_wording(pairs: Sequence[tuple[Dialogue, Sequence[Segment]]]) -> dict[str, float | None]:
    """Return how each true topic is worded by the episode that overlaps most with it.

    Of summaries there is None where no topic has one.
    """
    matches = [
        (topic, max(episodes, key=lambda episode: _count_shared(topic, episode)))
        for dialogue, episodes in pairs
        for topic in dialogue.topics
    ]
    summarised = [(topic.summary, episode.summary) for topic, episode in matches if topic.summary]
    return {
        "topics": len(matches),
        "shared_lines": fmean(
            _count_shared(topic, episode)
            / (max(topic.end, episode.last + 1) - min(topic.start - 1, episode.first))
            for topic, episode in matches
        ),
        "title_cosine": _mean_cosine([(topic.title, episode.title) for topic, episode in matches]),
        "titles_of_5_to_15_words": _share((e.title for _, e in matches), TITLE_WORDS),
        "summary_cosine": _mean_cosine(summarised) if summarised else None,
        "summary_rouge_l": fmean(rouge_l(*pair) for pair in summarised) if summarised else None,
        "summaries_of_1_to_50_words": _share((e.summary for _, e in matches), SUMMARY_WORDS),
    }


def _count_shared(topic: Topic, episode: Segment) -> int:
    """Return how many lines both have."""
    return max(0, min(topic.end, episode.last + 1) - max(topic.start - 1, episode.first))


def _share(texts: Iterable[str], sizes: range) -> float:
    return fmean(count_words(text) in sizes for text in texts)


def _mean_cosine(pairs: Sequence[tuple[str, str]]) -> float:
    expected, actual = (embed_passages(list(texts)) for texts in zip(*pairs, strict=True))
    return fmean(map(float, np.einsum("ij,ij->i", expected, actual)))


def rouge_l(expected: str, actual: str) -> float:
    """Return the F1 of the longest common run of words, gaps allowed, in lower case.

    Source: Lin (2004), with equal weight for precision and recall.
    """
    left, right = WORD.findall(expected.lower()), WORD.findall(actual.lower())
    if not left or not right:
        return 0.0
    row = [0] * (len(right) + 1)
    for word in left:
        previous, row = row, [0]
        for column, other in enumerate(right):
            longer = max(previous[column + 1], row[-1])
            row.append(previous[column] + 1 if word == other else longer)
    return 2 * row[-1] / (len(left) + len(right))


def spread_surprise(values: Sequence[float]) -> dict[str, float]:
    """Return the median surprise of at least one episode, and the shares that stand out."""
    return {
        "episodes": len(values),
        "median_surprise": median(values),
        "key_moments": fmean(value >= KEY_MOMENT for value in values),
        "flashbulbs": fmean(value >= FLASHBULB for value in values),
    }

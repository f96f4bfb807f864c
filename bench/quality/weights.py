"""Weights of the offline segmenter, fitted on dialogues and scored on others.

Takes files as `segmentation` and as `episodes` do, and prints the weights with the scores of
each file. A file that has a share in the fit is scored by five fits, each dialogue by the one
without its fifth of the file; any other by the weights printed. Needs no database.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from bench.quality.boundaries import LABELS, Boundaries, mean_score
from bench.quality.dialogues import read_dialogues
from bench.quality.report import Report
from bench.tables import render_table
from episodic.offline.evidence import WEIGHTS, Floats, measure_gaps
from episodic.offline.lexicon import find_lexicon
from episodic.offline.segmenter import choose_cuts
from memoryproject.ai.embeddings import embed_passages
from wings.transfer.loading import UnreadableFile

SHARES = {
    "tiage_train": 1.3,
    "dialseg711_dev": 0.8,
    "train_dialogsum": 0.7,
    "train_topiocqa": 0.2,
    "superseg_validation": 0.2,
}
"""What a file counts in the fit, however many gaps it has."""
GAPS = 3000
RIDGE = 2.0
FOLDS = 5
STEPS = 30
CUTS = "cuts for a true one"


@dataclass(frozen=True)
class Gaps:
    """Of a dialogue: a row of evidence for each gap between lines, and where a topic ends."""

    file: str
    number: int
    evidence: Floats
    true: frozenset[int]


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("paths", type=Path, nargs="+", help=f"fitted are: {', '.join(SHARES)}")


def measure(options: Namespace) -> Report:
    """Return the weights, and figures by file."""
    dialogues = [gaps for path in options.paths for gaps in measure_file(path)]
    fitted = [gaps for gaps in dialogues if gaps.file in SHARES]
    if not fitted:
        raise UnreadableFile(f"None of the files has a share in the fit: {', '.join(SHARES)}.")
    weights = fit(fitted)
    by_name = dict(zip(WEIGHTS, map(float, weights), strict=True))
    files = score_files(dialogues, weights)
    header = ["file", *LABELS.values(), CUTS]
    tables = [
        render_table(["evidence", "weight"], by_name.items()),
        render_table(header, [(file, *score.values()) for file, score in files.items()]),
    ]
    return Report({"weights": by_name, "files": files}, "\n\n".join(tables))


def measure_file(path: Path) -> Iterator[Gaps]:
    """Yield the evidence of a file's dialogues of three lines or more."""
    file = path.name.split(".")[0]
    dialogues = tqdm(read_dialogues(path), unit=" dialogues", desc=file)
    for number, dialogue in enumerate(row for row in dialogues if len(row.lines) > 1):
        lines = dialogue.lines
        if len(lines) > 2:
            vectors = embed_passages([line.text for line in lines])
            evidence = measure_gaps(lines, vectors, find_lexicon(lines))
            yield Gaps(file, number, evidence, dialogue.boundaries)


def fit(dialogues: Sequence[Gaps]) -> Floats:
    """Return the weights of a ridge-regularised logistic regression."""
    sizes = Counter[str]()
    for row in dialogues:
        sizes[row.file] += len(row.evidence)
    evidence = np.concatenate([row.evidence for row in dialogues])
    labels = np.concatenate([np.isin(np.arange(len(d.evidence)), [*d.true]) for d in dialogues])
    shares = [SHARES[row.file] * GAPS / sizes[row.file] for row in dialogues]
    worth = np.repeat(shares, [len(row.evidence) for row in dialogues])
    ridge = np.diag([RIDGE] * (evidence.shape[1] - 1) + [0.0])
    weights = np.zeros(evidence.shape[1])
    for _ in range(STEPS):  # Newton's
        chances = 1 / (1 + np.exp(-evidence @ weights))
        slope = evidence.T @ (worth * (chances - labels)) + ridge @ weights
        curve = (evidence.T * (worth * chances * (1 - chances))) @ evidence + ridge
        weights -= np.linalg.solve(curve, slope)
    return weights


def score_files(dialogues: Sequence[Gaps], weights: Floats) -> dict[str, dict[str, float]]:
    """Return the figures of each file."""
    fitted = [row for row in dialogues if row.file in SHARES]
    folds = [fit([row for row in fitted if row.number % FOLDS != fold]) for fold in range(FOLDS)]
    scores: dict[str, dict[str, float]] = {}
    for file in dict.fromkeys(row.file for row in dialogues):
        cases = [
            predict(row, folds[row.number % FOLDS] if file in SHARES else weights)
            for row in dialogues
            if row.file == file
        ]
        cuts = sum(len(case.predicted) for case in cases) / sum(len(case.true) for case in cases)
        scores[file] = mean_score(cases) | {CUTS: cuts}
    return scores


def predict(row: Gaps, weights: Floats) -> Boundaries:
    """Return the true boundaries beside those that the segmenter would choose."""
    chances = 1 / (1 + np.exp(-row.evidence @ weights))
    return Boundaries(len(row.evidence) + 1, row.true, frozenset(choose_cuts(chances)))

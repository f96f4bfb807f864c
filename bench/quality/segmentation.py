"""Boundaries that the offline segmenter finds in labelled dialogues.

Each dialogue is one window. Prints Pk, WindowDiff, F1 and Score of each file: means over
its dialogues, as SuperDialseg counts them. Needs no database.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tqdm import tqdm

from bench.quality.boundaries import LABELS, mean_score
from bench.quality.dialogues import read_dialogues, segment
from bench.quality.report import Report
from bench.tables import render_table
from wings.transfer.loading import UnreadableFile


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    form = '*.jsonl or *.jsonl.gz, {"id", "dialogue"} a line, or a folder of such files'
    parser.add_argument("path", type=Path, help=form)
    parser.add_argument("--out", type=Path, help="where the scorer's predictions are written")


def measure(options: Namespace) -> Report:
    """Return a row of figures a file."""
    files = {file.name: read_dialogues(file) for file in find_files(options.path)}
    scores: dict[str, dict[str, float]] = {}
    predictions = []
    for name, dialogues in files.items():
        cases = []
        for dialogue in tqdm(dialogues, unit=" dialogues", desc=name):
            if len(dialogue.lines) > 1:
                cases.append(dialogue.compare(segment(dialogue)))
                ends = sorted(cases[-1].predicted)
                predictions.append({"id": dialogue.id, "boundaries": ends})
        if not cases:
            raise UnreadableFile(f"{name} holds no dialogue of two utterances or more.")
        scores[name] = mean_score(cases)
    rows = [(name, *score.values()) for name, score in scores.items()]
    return Report(scores, render_table(["file", *LABELS], rows), tuple(predictions))


def find_files(path: Path) -> list[Path]:
    """Return the file itself, or the dialogue files of a folder by name.

    Raises:
        UnreadableFile: the folder has none.
    """
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith((".jsonl", ".jsonl.gz")))
    if not files:
        raise UnreadableFile(f"{path} holds no *.jsonl or *.jsonl.gz.")
    return files

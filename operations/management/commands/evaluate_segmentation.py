"""Measure the offline segmenter on labelled dialogues."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations import segmentation_evaluation as evaluation
from operations.boundary_metrics import BoundaryScore, mean_score
from operations.reporting import check_writable, format_json, format_table, write_lines

HEADER = ["file", "dialogues", "Pk", "WindowDiff", "F1", "Score"]


class Command(BaseCommand):
    help = (
        "Cut labelled dialogues with the offline segmenter and the configured embedder, each "
        "dialogue as one window, and print Pk, WindowDiff, F1 and Score of each file: means over "
        "its dialogues, as SuperDialseg counts them. Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help='*.jsonl or *.jsonl.gz, {"id", "dialogue"} a line, or a folder of such files',
        )
        parser.add_argument("--out", type=Path, help="where the scorer's predictions are written")
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        scores: dict[str, BoundaryScore] = {}
        predictions: list[dict[str, Any]] = []
        try:
            check_writable(options["out"])
            files = evaluation.find_files(options["path"])
            sets = {file.name: evaluation.read_dialogues(file) for file in files}
            for name, dialogues in sets.items():
                with tqdm(total=len(dialogues), unit=" dialogues", desc=name) as bar:
                    compared, made = evaluation.guess_all(dialogues, report=advance(bar))
                scores[name] = mean_score(compared)
                predictions += made
            if options["out"]:
                write_lines(options["out"], predictions)
        except (UnreadableFile, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(format_scores(scores, as_json=options["json"]))


def format_scores(scores: dict[str, BoundaryScore], *, as_json: bool) -> str:
    """Return a line of JSON by file name, or a table."""
    rows: list[list[str | int | float]] = [
        [name, score.dialogues, score.pk, score.window_diff, score.f1, score.score]
        for name, score in scores.items()
    ]
    if not as_json:
        return format_table(HEADER, rows)
    return format_json({str(row[0]): dict(zip(HEADER[1:], row[1:], strict=True)) for row in rows})

"""Measure the rule that decides whether two facts say the same."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations.case_evaluation import judge_merges, read_merges
from operations.reporting import format_json, format_table
from semantic.evaluation import MergeScore


class Command(BaseCommand):
    help = (
        "Ask the merge rule about labelled pairs of facts, with the configured embedder, and print "
        "precision, recall and the pairs judged wrongly. Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help='{"id", "a", "b", "category", "same"} a line; "category_b" if they differ',
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pairs = read_merges(options["path"])
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        with tqdm(total=2 * len(pairs), unit=" texts") as bar:
            score = judge_merges(pairs, report=advance(bar))
        self.stdout.write(format_json(asdict(score)) if options["json"] else format_score(score))


def format_score(score: MergeScore) -> str:
    """Return the figures, then the ids judged wrongly."""
    rows: list[tuple[str, int | float]] = [
        ("pairs", score.pairs),
        ("precision", score.precision),
        ("recall", score.recall),
    ]
    blocks = [format_table(["figure", "value"], rows)]
    blocks += [f"merged wrongly: {id}" for id in score.false_merges]
    blocks += [f"not merged: {id}" for id in score.missed_merges]
    return "\n".join(blocks)

"""Measure how well the offline reviewer tells used episodes from those served in vain."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.engines import Rating
from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations import review_evaluation as evaluation
from operations.reporting import format_json, format_table
from operations.review_evaluation import Outcome

PARTS = {"all": slice(None), "odd": slice(0, None, 2), "even": slice(1, None, 2)}
MOST_QUESTIONS = 100


class Command(BaseCommand):
    help = (
        "Serve LoCoMo's episodes, as the offline engine makes them, for questions of the same "
        "conversation, let the offline reviewer rate them by the thirty messages after, and print "
        "how many of those used and unused got each rating. AUC: how often a used one is judged "
        "above an unused one. Deterministic, with the configured embedder. Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="LoCoMo's JSON, observations included")
        parser.add_argument(
            "--questions",
            type=int,
            default=MOST_QUESTIONS,
            help="at most so many of each conversation (default: %(default)s)",
        )
        parser.add_argument("--seed", type=int, default=0, help="draws questions and talk")
        parser.add_argument(
            "--part",
            choices=PARTS,
            default="all",
            help="every other conversation only: the thresholds were fitted on the odd ones",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            stories = evaluation.read_stories(options["path"], part=PARTS[options["part"]])
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        with tqdm(total=len(stories), unit=" conversations") as bar:
            outcomes = evaluation.judge_stories(
                stories, questions=options["questions"], seed=options["seed"], report=advance(bar)
            )
        if options["json"]:
            found = {
                "ratings": evaluation.count_ratings(outcomes),
                "auc": evaluation.areas(outcomes),
            }
            self.stdout.write(format_json(found))
        else:
            self.stdout.write(format_outcomes(outcomes))


def format_outcomes(outcomes: list[Outcome]) -> str:
    """Return the share of each rating in each group, then the areas under the curve."""
    shares: list[list[str | int | float]] = []
    for group, counts in evaluation.count_ratings(outcomes).items():
        total = sum(counts.values())
        shares.append([group, total, *(count / max(total, 1) for count in counts.values())])
    areas: list[list[str | int | float]] = [
        [f"{used} / {unused}", area]
        for used, by_unused in evaluation.areas(outcomes).items()
        for unused, area in by_unused.items()
    ]
    ratings = format_table(["episodes", "count", *(rating.value for rating in Rating)], shares)
    return f"{ratings}\n\n{format_table(['used / unused', 'AUC'], areas)}"

"""Measure the facts that the offline engine draws from LoCoMo's sessions."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations.fact_evaluation import compare_all, read_sessions
from operations.fact_metrics import FactScore, score_matches
from operations.reporting import check_writable, format_json, format_table, write_lines

LEAST_COSINE = 0.9
"""Cosines of e5 lie high; here it matches about as many as the official scorer does."""


class Command(BaseCommand):
    help = (
        "Cut each session of LoCoMo into episodes, draw facts from them with the offline engine, "
        "nothing being known before, and compare them with LoCoMo's observations. The figures "
        "printed are by the configured embedder and only tell one version of ours from another; "
        "the official ones come from the scorer, which reads what --out writes. "
        "Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="LoCoMo's JSON, observations included")
        parser.add_argument("--out", type=Path, help="where the facts are written for the scorer")
        parser.add_argument(
            "--least-cosine",
            type=float,
            default=LEAST_COSINE,
            help="from where on our embedder takes two texts for the same (default: %(default)s)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_writable(options["out"])
            sessions = read_sessions(options["path"])
            with tqdm(total=len(sessions), unit=" sessions") as bar:
                matched, rows = compare_all(
                    sessions, least_cosine=options["least_cosine"], report=advance(bar)
                )
            if options["out"]:
                write_lines(options["out"], rows)
        except (UnreadableFile, OSError) as error:
            raise CommandError(str(error)) from error
        score = score_matches(matched)
        if options["json"]:
            labels = {"least_cosine": options["least_cosine"], "matched_by": "our embedder"}
            self.stdout.write(format_json({**asdict(score), **labels, "sessions": len(sessions)}))
        else:
            self.stdout.write(format_score(score, least_cosine=options["least_cosine"]))


def format_score(score: FactScore, *, least_cosine: float) -> str:
    """Return the figures line by line; those by our embedder say so."""
    ours = f"with our embedder, cosine {least_cosine} or more"
    rows: list[tuple[str, int | float]] = [
        ("observations", score.wanted),
        ("facts", score.drawn),
        ("facts per observation", score.facts_per_wanted),
        (f"one-to-one F1 {ours}", score.f1),
        (f"one-to-one precision {ours}", score.precision),
        (f"one-to-one recall {ours}", score.recall),
        (f"observations matched from the same turn {ours}", score.joint),
    ]
    return format_table(["figure", "value"], rows)

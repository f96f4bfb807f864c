"""Measure the titles and summaries that the offline engine writes."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations import episode_evaluation as evaluation
from operations.boundary_metrics import BoundaryScore, mean_score
from operations.reporting import check_writable, format_json, format_table, write_lines
from operations.wording_metrics import SurpriseLevels, WordingScore, mean_wording, spread_surprise


class Command(BaseCommand):
    help = (
        "Make episodes of labelled dialogues with the offline engine, each dialogue as one window, "
        "and compare their boundaries, titles and summaries with the true ones. The cosines are "
        "by the configured embedder and only tell one version of ours from another; the official "
        "ones come from the scorer, which reads what --out writes. Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help='MemoChat\'s *.jsonl or *.jsonl.gz: {"id", "utt": [[speaker, text]], "segments": '
            '[{"start", "end", "topic", "summary"}]} a line',
        )
        parser.add_argument("--out", type=Path, help="where the episodes are written")
        parser.add_argument(
            "--true-boundaries",
            action="store_true",
            help="name and summarise the true segments instead of cutting",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_writable(options["out"])
            dialogues = evaluation.read_dialogues(options["path"])
            with tqdm(total=len(dialogues), unit=" dialogues") as bar:
                made = evaluation.make_all(
                    dialogues, true_boundaries=options["true_boundaries"], report=advance(bar)
                )
            pairs = list(zip(dialogues, made, strict=True))
            if options["out"]:
                write_lines(options["out"], [evaluation.to_prediction(*pair) for pair in pairs])
        except (UnreadableFile, OSError) as error:
            raise CommandError(str(error)) from error
        cut = mean_score([evaluation.to_boundaries(*pair) for pair in pairs])
        worded = mean_wording(evaluation.compare_wording(dialogues, made))
        levels = spread_surprise([episode.surprise for episodes in made for episode in episodes])
        if options["json"]:
            figures = asdict(cut) | {"score": cut.score} | asdict(worded) | asdict(levels)
            self.stdout.write(format_json(figures))
        else:
            self.stdout.write(format_score(cut, worded, levels))


def format_score(cut: BoundaryScore, worded: WordingScore, levels: SurpriseLevels) -> str:
    """Return the figures line by line; those by our embedder say so."""
    rows = [
        ("dialogues", cut.dialogues),
        ("Pk", cut.pk),
        ("WindowDiff", cut.window_diff),
        ("F1", cut.f1),
        ("Score", cut.score),
        ("topics", worded.topics),
        ("lines shared with the topic", worded.shared_lines),
        ("title, cosine with our embedder", worded.title_cosine),
        ("titles of 5 to 15 words", worded.titles_of_5_to_15_words),
        ("summary, cosine with our embedder", worded.summary_cosine),
        ("summary, ROUGE-L F1", worded.summary_rouge_l),
        ("summaries of 1 to 50 words", worded.summaries_of_1_to_50_words),
        ("episodes", levels.episodes),
        ("surprise, median", levels.median_surprise),
        ("key moments, surprise from 0.7", levels.key_moments),
        ("flashbulbs, surprise from 0.85", levels.flashbulbs),
    ]
    known = [(name, value) for name, value in rows if value is not None]
    return format_table(["figure", "value"], known)

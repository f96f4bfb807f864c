"""Measure what the offline engine holds after statements that contradict each other."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile
from memoryproject.progress import advance
from operations import case_evaluation as evaluation
from operations.labelled_files import Case
from operations.reporting import format_json, format_table
from semantic.evaluation import ContradictionScore


class Command(BaseCommand):
    help = (
        "Consolidate each case's messages with the offline engine and check that the facts "
        "expected are held, or were closed, and those not expected are not held. Each expectation "
        "names words that one fact must contain, capitals or not. Needs no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help='{"id", "messages", "held", "not_held", "known_before"} a line',
        )
        parser.add_argument(
            "--runs",
            type=int,
            choices=[1, 2],
            default=2,
            help="consolidations that the messages are spread over; 1 means two episodes of one "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--show", action="store_true", help="print what is held after each failing case"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = options["runs"]
        try:
            cases = evaluation.read_contradictions(options["path"])
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        with tqdm(total=len(cases), unit=" cases") as bar:
            score = evaluation.judge_contradictions(cases, runs=runs, report=advance(bar))
        groups = evaluation.accuracy_by_prefix([case["id"] for case in cases], wrong=score.wrong)
        failing = [case for case in cases if case["id"] in score.wrong]
        shown = {case["id"]: show_case(case, runs=runs) for case in failing if options["show"]}
        if options["json"]:
            figures = {
                "cases": score.cases,
                "accuracy": score.accuracy,
                "groups": groups,
                "wrong": score.wrong,
            }
            self.stdout.write(format_json(figures | ({"facts": shown} if shown else {})))
        else:
            self.stdout.write(format_score(score, groups, shown))


def show_case(case: Case, *, runs: int) -> dict[str, list[str]]:
    """Return the facts held and closed after a case."""
    ledger = evaluation.consolidate_case(case, runs=runs)
    return {"held": list(ledger.held), "closed": list(ledger.closed)}


def format_score(
    score: ContradictionScore,
    groups: dict[str, float],
    shown: dict[str, dict[str, list[str]]],
) -> str:
    """Return a table by group, then the failing ids with what was not met."""
    rows = [("all", score.accuracy), *groups.items()]
    blocks = [f"{score.cases} cases", format_table(["group", "accuracy"], rows)]
    for id, unmet in score.wrong.items():
        blocks.append(f"{id}: {'; '.join(unmet)}")
        for state, facts in shown.get(id, {}).items():
            blocks += [f"    {state}: {fact}" for fact in facts]
    return "\n".join(blocks)

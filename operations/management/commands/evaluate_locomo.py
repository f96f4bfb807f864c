"""Measure retrieval on LoCoMo."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import UnreadableFile, read_conversations
from memoryproject.progress import advance
from memoryproject.tenancy.services import create_api_key, get_or_create_tenant
from operations import locomo
from operations.settling import load_and_settle


class Command(BaseCommand):
    help = (
        "Load LoCoMo's conversations, process them, ask every question through the retrieve "
        "view with default settings, and write the answers in the scorer's format."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="LoCoMo's JSON")
        parser.add_argument("--out", type=Path, required=True, help="where the run is written")
        parser.add_argument("--max-tokens", type=int, help="a budget for each answer")
        parser.add_argument(
            "--tenant", default="evaluation", help="whose memory is used; made if missing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            conversations = read_conversations(path)
            samples = locomo.read_samples(path)
        except (UnreadableFile, OSError, ValueError) as error:
            raise CommandError(f"{path} does not hold LoCoMo's samples: {error}") from error
        tenant = get_or_create_tenant(name=options["tenant"])
        load_and_settle(conversations, tenant=tenant)
        key = create_api_key(tenant=tenant, name="evaluation", scopes=["read"])
        ask = locomo.make_asker(secret=key.secret, max_tokens=options["max_tokens"])
        questions = sum(len(sample["qa"]) for sample in samples)
        with (
            options["out"].open("w", encoding="utf-8") as out,
            tqdm(total=questions, unit=" questions", desc="asking") as bar,
        ):
            locomo.write_run(samples, ask=ask, out=out, report=advance(bar))

"""Measure Chinese retrieval on MemoryBank."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from episodic.loading import LoadedConversation, UnreadableFile
from memoryproject.progress import advance
from memoryproject.tenancy.services import create_api_key, get_or_create_tenant
from operations import memorybank
from operations.locomo import make_asker
from operations.memorybank import GoldQuestion, Reply
from operations.reporting import check_writable, format_json, format_table, write_lines
from operations.settling import load_and_settle


class Command(BaseCommand):
    help = (
        "Load MemoryBank's Chinese dialogues, process them, ask every question through the "
        "retrieve view, and print how much of the gold the first five turns of the answers hold."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help=f"a folder with {memorybank.HISTORY_FILE} and {memorybank.GOLD_FILE}",
        )
        parser.add_argument(
            "--max-tokens",
            type=int,
            default=memorybank.MAX_TOKENS,
            help=f"the budget of each answer ({memorybank.MAX_TOKENS}: about five turns)",
        )
        parser.add_argument("--out", type=Path, help="where one JSON line a question is written")
        parser.add_argument("--json", action="store_true", help="print one JSON line")
        parser.add_argument(
            "--tenant", help="whose memory is used, loaded if it is new; else one of this run"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["path"]
        out: Path | None = options["out"]
        try:
            check_writable(out)
            conversations = memorybank.read_dialogues(folder)
            questions = memorybank.read_questions(folder)
            memorybank.check_gold(conversations, questions)
        except (UnreadableFile, OSError) as error:
            raise CommandError(str(error)) from error
        tenant = get_or_create_tenant(name=options["tenant"] or f"memorybank {uuid.uuid4()}")
        load_and_settle(conversations, tenant=tenant)
        key = create_api_key(tenant=tenant, name="evaluation", scopes=["read"])
        ask = make_asker(secret=key.secret, max_tokens=options["max_tokens"])
        with tqdm(total=len(questions), unit=" questions", desc="asking") as bar:
            replies = ask_all(conversations, questions, ask=ask, report=advance(bar))
        if out is not None:
            write_lines(out, [to_line(reply) for reply in replies])
        rows = summarise(replies)
        self.stdout.write(
            format_json([dict(zip(HEADER, row, strict=True)) for row in rows])
            if options["json"]
            else format_table(HEADER, rows)
        )


HEADER = ("questions", "count", "R@5", "R@all", "turns")
Row = tuple[str, int, float, float, float]


def ask_all(
    conversations: Sequence[LoadedConversation],
    questions: Sequence[GoldQuestion],
    *,
    ask: Callable[[str, str], dict[str, Any]],
    report: Callable[[int], None],
) -> list[Reply]:
    """Ask every question of its own user's conversation."""
    by_name = {conversation.name: conversation for conversation in conversations}
    replies = []
    for asked in questions:
        conversation = by_name[asked.conversation]
        contents = {seq: said.content for seq, said in enumerate(conversation.messages, start=1)}
        given = ask(str(conversation.external_id), asked.question)
        replies.append(memorybank.to_reply(asked, given, contents=contents))
        report(1)
    return replies


def summarise(replies: Sequence[Reply]) -> list[Row]:
    """Return a row for all questions, one for those that name a day, one for the others."""
    parts = {
        "all": list(replies),
        "dated": [reply for reply in replies if reply.asked.dated],
        "undated": [reply for reply in replies if not reply.asked.dated],
    }
    return [
        (
            name,
            len(part),
            memorybank.recall_at(part, turns=5),
            memorybank.recall_at(part, turns=None),
            memorybank.mean_turns(part),
        )
        for name, part in parts.items()
    ]


def to_line(reply: Reply) -> dict[str, Any]:
    """Return a question's line: what it asked for and what it was shown."""
    return {
        "name": reply.asked.conversation,
        "question": reply.asked.question,
        "gold": sorted(reply.asked.turns),
        "turns": list(reply.turns),
    }

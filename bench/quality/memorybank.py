"""Gold turns that answers to MemoryBank's Chinese questions show first.

Loads the dialogues, processes them, and asks every question through the retrieve view. A turn
is one thing that the user said together with the answer to it, so two messages. It is
retrieved where the text of one answer, packed into a small budget, shows one of its two
messages: what counts is what an agent would read, in the order in which he reads it.
"""

from __future__ import annotations

import uuid
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter
from tqdm import tqdm

from bench.quality.files import read_json
from bench.quality.memory import Answer, load
from bench.quality.report import Report
from bench.tables import render_table
from episodic.models import Message, Role
from indexing import text
from wings.transfer.loading import TURN_LENGTH, LoadedConversation, UnreadableFile, to_uuid

HISTORY_FILE = "memory_bank_cn.json"
GOLD_FILE = "gold_cn.json"
SHARE_SHOWN = 0.5
"""Of a message's words: with fewer of them in a text it is hinted at, not shown."""
MAX_TOKENS = 300
"""Holds five turns of this data, seldom more."""
HEADER = ("questions", "count", "R@5", "R@all", "turns")


class Turn(BaseModel):
    """What a user said and the reply."""

    query: str
    response: str


class User(BaseModel):
    """One user's dialogues by day."""

    history: dict[date, list[Turn]]


class GoldQuestion(BaseModel):
    """A question, and the turns that answer it. `dated`: it names the day."""

    name: str
    question: str
    gold: frozenset[str] = Field(min_length=1)
    dated: bool = False


Row = dict[str, Any]
"""What a question asked for ("gold") and the "turns" that its answer shows, in order."""
HISTORY: TypeAdapter[dict[str, User]] = TypeAdapter(dict[str, User])
GOLD: TypeAdapter[list[GoldQuestion]] = TypeAdapter(list[GoldQuestion])


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help=f"a folder with {HISTORY_FILE} and {GOLD_FILE}")
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=MAX_TOKENS,
        help="the budget of each answer (%(default)s: about five turns)",
    )
    parser.add_argument("--out", type=Path, help="where one JSON line a question is written")
    parser.add_argument(
        "--tenant", help="whose memory is used, loaded if it is new; else one of this run"
    )


def measure(options: Namespace) -> Report:
    """Return recall over all questions, those that name a day, and the others."""
    conversations = read_conversations(options.path)
    questions = read_questions(options.path, conversations)
    tenant_name = options.tenant or f"memorybank {uuid.uuid4()}"
    ask = load([*conversations.values()], tenant_name=tenant_name, max_tokens=options.max_tokens)
    rows: list[Row] = []
    for question in tqdm(questions, unit=" questions", desc="asking"):
        conversation = conversations[question.name]
        contents = dict(enumerate((m.content for m in conversation.messages), start=1))
        answer = ask(conversation.external_id, question.question)
        turns = list(dict.fromkeys(find_turns_shown(answer, contents=contents)))
        about = {"name": question.name, "question": question.question}
        rows.append({**about, "gold": sorted(question.gold), "turns": turns})
    parts = {"all": rows, "dated": [], "undated": []}
    for row, question in zip(rows, questions, strict=True):
        parts["dated" if question.dated else "undated"].append(row)
    scores = [(name, len(part), *score(part)) for name, part in parts.items()]
    figures = [dict(zip(HEADER, row, strict=True)) for row in scores]
    return Report(figures, render_table(HEADER, scores), tuple(rows))


def read_conversations(folder: Path) -> dict[str, LoadedConversation]:
    """Return each user's conversation; each message's metadata names its turn.

    Raises:
        UnreadableFile: the folder does not hold MemoryBank's file.
    """
    users = read_json(folder / HISTORY_FILE, HISTORY)
    return {
        name: LoadedConversation(name, to_uuid(name), tuple(_list_messages(number, name, user)))
        for number, (name, user) in enumerate(users.items())
    }


def _list_messages(number: int, name: str, user: User) -> Iterator[Message]:
    for day, turns in user.history.items():
        start = datetime.combine(day, time(12), tzinfo=UTC)
        for place, turn in enumerate(turns):
            metadata = {"turn": f"{number}:{day}:{place}"}
            at = start + 2 * place * TURN_LENGTH
            yield Message(
                role=Role.USER, content=turn.query, occurred_at=at, name=name, metadata=metadata
            )
            at += TURN_LENGTH
            yield Message(
                role=Role.ASSISTANT, content=turn.response, occurred_at=at, metadata=metadata
            )


def read_questions(
    folder: Path, conversations: Mapping[str, LoadedConversation]
) -> list[GoldQuestion]:
    """Return the questions with their gold turns.

    Raises:
        UnreadableFile: no question, or gold that was never said.
    """
    questions = read_json(folder / GOLD_FILE, GOLD)
    turns = {
        (conversation.name, message.metadata["turn"])
        for conversation in conversations.values()
        for message in conversation.messages
    }
    for question in questions:
        if not {(question.name, turn) for turn in question.gold} <= turns:
            raise UnreadableFile(f"The gold of {question.question!r} names no turn of its user.")
    if not questions:
        raise UnreadableFile(f"{folder / GOLD_FILE} holds no question.")
    return questions


def find_turns_shown(answer: Answer, *, contents: Mapping[int, str]) -> Iterator[str]:
    """Yield the turn of each message whose words stand in the answer, in its order.

    `contents` has the messages by seq. A fact shows a message only if it repeats it.
    """
    for block in answer["blocks"]:
        words = set(text.prepare(block["text"]).split())
        for source in block["sources"]:
            expected = set(text.prepare(contents[source["seq"]]).split())
            if len(expected & words) >= SHARE_SHOWN * len(expected):
                yield source["metadata"]["turn"]


def score(rows: Sequence[Row]) -> tuple[float, ...]:
    """Return the mean share of gold in the first five turns and in all, and turns a reply."""
    if not rows:
        return 0.0, 0.0, 0.0
    shares = (
        fmean(len({*row["gold"]} & {*row["turns"][:at_most]}) / len(row["gold"]) for row in rows)
        for at_most in (5, None)
    )
    return *shares, fmean(len(row["turns"]) for row in rows)

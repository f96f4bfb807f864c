"""Evidence that answers to the questions of public benchmarks hold within budgets of tokens.

A line of the file is a conversation: `{"id", "messages": [{"id", "role", "name", "content",
"at"}], "questions": [{"id", "q", "kind", "gold": [message ids], "after"}]}`. Questions without
gold have nothing to be found, and those that are to be asked before the end (`after`) are left out.

A message is found where a block of the answer names it as a source and has at least half of its
words (`found`). `named` counts it from the first word on, as of a long reply a few sentences may
be all that answers. With --out a run that was broken off goes on where it stopped.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, TypeAdapter
from tqdm import tqdm

from bench.quality.files import Labelled, read_rows
from bench.quality.memory import Answer, Ask, load
from bench.quality.report import Report, read_lines, write_lines
from bench.tables import render_table
from episodic.models import Message
from memoryproject.text.words import content_stems
from wings.transfer.loading import LoadedConversation, UnreadableFile, to_uuid

BUDGETS = (1000, 2000)
SHARE_SHOWN = 0.5
"""Of a message's words: with fewer of them in a text it is hinted at, not shown."""
ALL = "all"
AT_ONCE = 10
"""Chats that are processed before their questions are asked."""


class Said(BaseModel):
    """A message of a chat."""

    id: str
    role: str
    name: str | None = None
    content: str
    at: datetime


class Question(BaseModel):
    """A question with the messages that hold its answer. `after`: how many are in by then."""

    id: str
    q: str
    kind: str
    gold: list[str] = []
    after: int | None = None


class Chat(Labelled):
    """A conversation and its questions."""

    messages: list[Said]
    questions: list[Question]


CHATS: TypeAdapter[Chat] = TypeAdapter(Chat)
Row = dict[str, Any]
"""A question by chat and id, its kind, and by budget the shares `found` and `named`."""


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="the labelled file")
    parser.add_argument("--chats", nargs="+", help="ids; else all")
    parser.add_argument("--max-tokens", type=int, nargs="+", default=BUDGETS, help="budgets")
    parser.add_argument("--out", type=Path, help="one JSON line a question; what is there is kept")
    parser.add_argument("--tenant", default="public", help="whose memory is used; made if missing")


def measure(options: Namespace) -> Report:
    """Return the mean shares of evidence by kind of question and budget."""
    return measure_chats(read_rows(options.path, CHATS), options)


def measure_chats(chats: Iterable[Chat], options: Namespace) -> Report:
    """Return the mean shares over some chats; what an earlier run has written is not asked again.

    Raises:
        UnreadableFile: no question has evidence.
    """
    scored = [*read_lines(options.out)] if options.out else []
    done = {str(row["chat"]) for row in scored}
    wanted = (
        chat
        for chat in chats
        if str(chat.id) not in done and (not options.chats or str(chat.id) in options.chats)
    )
    bar = tqdm(wanted, unit=" chats", initial=len(done))
    while some := list(islice(bar, AT_ONCE)):
        conversations = [to_conversation(chat) for chat in some]
        ask = load(conversations, tenant_name=options.tenant)
        for chat, conversation in zip(some, conversations, strict=True):
            own = list(ask_all(chat, conversation, ask, options.max_tokens))
            scored += own
            if options.out:
                write_lines(options.out, own, mode="a")
    if not scored:
        raise UnreadableFile(f"{options.path} holds no question that has an answer.")
    header, table = summarise(scored, options.max_tokens)
    figures = [dict(zip(header, line, strict=True)) for line in table]
    return Report(figures, render_table(header, table), tuple(scored))


def ask_all(
    chat: Chat, conversation: LoadedConversation, ask: Ask, budgets: Sequence[int]
) -> Iterator[Row]:
    """Yield the row of each question that has evidence and is asked at the end."""
    stems = {said.id: frozenset(content_stems(said.content)) for said in chat.messages}
    for question in chat.questions:
        if question.gold and question.after is None:
            row: Row = {"chat": chat.id, "id": question.id, "kind": question.kind}
            gold = {key: stems[key] for key in question.gold if key in stems}
            for budget in budgets:
                answer = ask(conversation.external_id, question.q, max_tokens=budget)
                found, named = score(answer, gold)
                row |= {f"found@{budget}": found, f"named@{budget}": named}
            yield row


def to_conversation(chat: Chat) -> LoadedConversation:
    """Return a chat as it is posted; the metadata of a message has its id."""
    messages = [
        Message(
            role=said.role,
            name=said.name or "",
            content=said.content,
            occurred_at=said.at,
            metadata={"id": said.id},
        )
        for said in chat.messages
        if said.content.strip()
    ]
    return LoadedConversation(str(chat.id), to_uuid(f"public {chat.id}"), tuple(messages))


def score(answer: Answer, gold: Mapping[str, frozenset[str]]) -> tuple[float, float]:
    """Return the shares of gold that an answer shows, and that it names at all."""
    found, named = set(), set()
    for block in answer["blocks"]:
        shown = frozenset(content_stems(block["text"]))
        for key in {source["metadata"]["id"] for source in block["sources"]} & gold.keys():
            named.add(key)
            if len(gold[key] & shown) >= SHARE_SHOWN * len(gold[key]):
                found.add(key)
    return len(found) / len(gold), len(named) / len(gold)


def summarise(
    rows: Sequence[Row], budgets: Sequence[int]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return a header, and a line for all questions and for each kind."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for kind in (ALL, row["kind"]):
            parts[kind].append(row)
    names = [f"{what}@{budget}" for budget in budgets for what in ("found", "named")]

    def average() -> Iterator[tuple[Any, ...]]:
        for kind in sorted(parts, key=lambda kind: (kind != ALL, kind)):
            means = (round(fmean(row[name] for row in parts[kind]), 3) for name in names)
            yield kind, len(parts[kind]), *means

    return ["kind", "questions", *names], [*average()]

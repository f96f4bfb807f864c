"""Whether LongMemEval's answer sessions and turns are found; no language model judges.

Each question has a history of its own, which becomes a conversation. A session counts as found
where the first fact or episode drawn from it stands, a turn with all that shows it. Questions
about what was never said have nothing to be found, and are left out. With --out a run that was
broken off goes on where it stopped. Files S, M and oracle have the same form.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, Self

import ijson
from pydantic import BaseModel, BeforeValidator, ValidationError, model_validator
from tqdm import tqdm

from bench.quality.memory import Answer, load
from bench.quality.report import Report
from bench.tables import render_table
from episodic.models import Message
from wings.transfer.loading import LoadedConversation, UnreadableFile, to_uuid

DEPTHS = (5, 10)
LIMIT = 50
"""Facts and episodes an answer: many are of the same session."""
AT_ONCE = 10
"""Histories that are processed before their questions are asked."""
TURN_LENGTH = timedelta(minutes=1)
NEVER_SAID = "_abs"
ALL = "all"
HEADER = ["kind", "questions"] + [
    f"{what} at {depth}" for depth in DEPTHS for what in ("any session", "all sessions", "turns")
]

Row = dict[str, Any]
"""A question with the "sessions" and turns that hold its answer, and the "found" sources of
each fact or episode, best first: [session, turn]."""


def read_time(text: str) -> datetime:
    """Return the moment of "2023/05/20 (Sat) 02:21"."""
    day, _, time = text.split()
    return datetime.strptime(f"{day} {time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


class Turn(BaseModel):
    """What was said; `has_answer` where the answer stands."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool = False


class Question(BaseModel):
    """A question with the history that it is asked about."""

    question_id: str
    question_type: str
    question: str
    haystack_dates: list[Annotated[datetime, BeforeValidator(read_time)]]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]]
    answer_session_ids: list[str]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        count = len(self.haystack_sessions)
        if not len(self.haystack_dates) == len(self.haystack_session_ids) == count:
            raise ValueError("Each session must have an id and a date.")
        return self


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="longmemeval_s.json or one of its kind")
    parser.add_argument("--out", type=Path, help="one JSON line a question; what is there is kept")
    parser.add_argument(
        "--tenant", default="longmemeval", help="whose memory is used; made if missing"
    )


def measure(options: Namespace) -> Report:
    """Return recall by kind of question."""
    rows = list(read_rows(options.out))
    done = {row["question_id"] for row in rows}
    left = (row for row in read_questions(options.path) if row.question_id not in done)
    questions = iter(tqdm(left, unit=" questions", desc="asking", initial=len(done)))
    while some := list(islice(questions, AT_ONCE)):
        conversations = [to_conversation(question) for question in some]
        ask = load(
            conversations, tenant_name=options.tenant, episodic_limit=LIMIT, semantic_limit=LIMIT
        )
        for question, conversation in zip(some, conversations, strict=True):
            rows.append(to_row(question, ask(conversation.external_id, question.question)))
            if options.out is not None:
                with options.out.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
    if not rows:
        raise UnreadableFile(f"{options.path} holds no question that has an answer.")
    kinds = [ALL, *sorted({row["kind"] for row in rows})]
    scores = [score(kind, [row for row in rows if kind in (ALL, row["kind"])]) for kind in kinds]
    figures = [dict(zip(HEADER, row, strict=True)) for row in scores]
    return Report(figures, render_table(HEADER, scores), tuple(rows))


def read_rows(out: Path | None) -> Iterator[Row]:
    """Yield what an earlier run has written."""
    if out is not None:
        for line in out.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def read_questions(path: Path) -> Iterator[Question]:
    """Yield the questions that have an answer, one at a time: M is larger than memory.

    Raises:
        UnreadableFile: the file does not hold LongMemEval's questions.
    """
    try:
        with path.open("rb") as file:
            for item in ijson.items(file, "item"):
                question = Question.model_validate(item)
                if not question.question_id.endswith(NEVER_SAID):
                    yield question
    except (OSError, ijson.JSONError, ValidationError) as error:
        raise UnreadableFile(f"{path} does not hold LongMemEval's questions.") from error


def to_conversation(question: Question) -> LoadedConversation:
    """Return a question's history in the order of time; metadata names session and turn."""
    sessions = zip(
        question.haystack_dates,
        question.haystack_session_ids,
        question.haystack_sessions,
        strict=True,
    )
    messages = [
        Message(
            role=turn.role,
            content=turn.content,
            occurred_at=start + place * TURN_LENGTH,
            metadata={"session": name, "turn": place},
        )
        for start, name, turns in sorted(sessions, key=lambda session: session[0])
        for place, turn in enumerate(turns)
        if turn.content.strip()
    ]
    name = question.question_id
    return LoadedConversation(name, to_uuid(f"longmemeval {name}"), tuple(messages))


def to_row(question: Question, answer: Answer) -> Row:
    """Return what was to be found, and what was."""
    turns = [
        [name, place]
        for name, said in zip(
            question.haystack_session_ids, question.haystack_sessions, strict=True
        )
        for place, turn in enumerate(said)
        if turn.has_answer
    ]
    hits = sorted([*answer["semantic"], *answer["episodic"]], key=lambda hit: -hit["score"])
    sources = ([s["metadata"] for s in answer["sources"][hit["id"]]] for hit in hits)
    return {
        "question_id": question.question_id,
        "kind": question.question_type,
        "sessions": question.answer_session_ids,
        "turns": turns,
        "found": [[[s["session"], s["turn"]] for s in of_hit] for of_hit in sources],
    }


def score(kind: str, rows: Sequence[Row]) -> tuple[Any, ...]:
    """Return means over questions; of turns the mean share, of those that name turns."""
    figures: list[float] = []
    for depth in DEPTHS:
        found = [set(first_sessions(row["found"], depth)) for row in rows]
        wanted = [set(row["sessions"]) for row in rows]
        figures.append(fmean(bool(a & b) for a, b in zip(wanted, found, strict=True)))
        figures.append(fmean(a <= b for a, b in zip(wanted, found, strict=True)))
        figures.append(mean_share_of_turns(rows, depth))
    return kind, len(rows), *figures


def first_sessions(found: Iterable[Sequence[Sequence[Any]]], depth: int) -> list[str]:
    """Return the first sessions of an answer, each where it comes first."""
    return list(dict.fromkeys(name for of_hit in found for name, _ in of_hit))[:depth]


def mean_share_of_turns(rows: Iterable[Row], depth: int) -> float:
    """Return the mean share of the turns with the answer in the first facts and episodes."""
    shares = []
    for row in rows:
        wanted = set(map(tuple, row["turns"]))
        shown = {tuple(turn) for of_hit in row["found"][:depth] for turn in of_hit}
        if wanted:
            shares.append(len(wanted & shown) / len(wanted))
    return fmean(shares) if shares else 0.0

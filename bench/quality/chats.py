"""Conversations with questions: in the form of the labelled files, LoCoMo's, or LongMemEval's.

A line of the first is `{"id", "messages": [{"id", "role", "name", "content", "at"}], "questions":
[{"id", "q", "kind", "answer", "gold": [message ids], "rubric", "answers", "after"}]}`. An `answer`
of several texts is a choice, its letter last; `answers` are exact. A session's messages have ids
`<session>:<place>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

import ijson
from pydantic import AfterValidator, BaseModel, BeforeValidator, TypeAdapter, ValidationError

from bench.quality.files import Labelled, read_rows
from bench.quality.sessions import Sample, parse_turns, to_messages
from episodic.models import Message
from wings.transfer.loading import LoadedConversation, UnreadableFile, to_uuid

START, TURN_LENGTH = datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=1)
"""When a message without a time was said: a minute after the one before."""
NEVER_SAID = "Says that this is not known, or was never said."
CATEGORIES = {1: "several steps", 2: "time", 3: "opinion", 4: "one step", 5: "never said"}
"""LoCoMo's kinds of questions."""
NO_ANSWER = 5
UNANSWERABLE = ("never said", "abstention")
"""Kinds of questions that no message answers."""


def _read_day(value: object) -> object:
    """Return "2023/05/20 (Sat) 02:21" as ISO 8601, which has no days of the week."""
    return re.sub(r" \(\w+\)", "", value).replace("/", "-") if isinstance(value, str) else value


def _set_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


Moment = Annotated[datetime, BeforeValidator(_read_day), AfterValidator(_set_zone)]


class Said(BaseModel):
    """A message of a chat."""

    id: str
    role: str
    name: str | None = None
    content: str
    at: Moment | None = None


class Question(BaseModel):
    """A question with its answer, and the messages that hold it. `after`: how many are in then."""

    id: str | int
    q: str
    kind: str
    gold: list[str] = []
    after: int | None = None
    answer: str | int | float | list[str] | None = None
    answers: list[str] = []
    rubric: list[str] = []
    at: Moment | None = None

    @property
    def topic(self) -> str:
        """What memory is asked for: the question without the answers to choose from."""
        return re.split(r"\n\s*\(a\) ", self.q)[0] if isinstance(self.answer, list) else self.q

    @property
    def points(self) -> list[str]:
        """What a right answer says."""
        return self.rubric or [NEVER_SAID if self.answer is None else str(self.answer)]

    @property
    def is_judged(self) -> bool:
        """Whether it takes a judge to see that an answer is right."""
        return not (self.answers or isinstance(self.answer, list))

    def check(self, answer: str) -> bool:
        """Return whether a choice is the right one, or an exact answer is in the text."""
        if isinstance(self.answer, list):
            letter = re.match(r"\W*([a-z])\b", answer.lower())
            return letter is not None and letter[1] == self.answer[-1]
        return any(_list_words(gold) in _list_words(answer) for gold in self.answers)


def _list_words(text: str) -> str:
    return " ".join(["", *re.findall(r"\w+", text.lower()), ""])


class Chat(Labelled):
    """A conversation and its questions."""

    messages: list[Said]
    questions: list[Question]


class Turn(BaseModel):
    """What was said; `has_answer` where the answer stands."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool = False


class Item(BaseModel):
    """One of LongMemEval's questions with the history that it is asked about."""

    question_id: str
    question_type: str
    question: str
    question_date: Moment | None = None
    answer: str | int | float
    haystack_dates: list[Moment]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]]


CHATS: TypeAdapter[Chat] = TypeAdapter(Chat)
PUBLISHED: TypeAdapter[Item | Sample] = TypeAdapter(Item | Sample)


def read_chats(path: Path) -> Iterator[Chat]:
    """Yield the chats of a file, one at a time: LongMemEval's M is larger than memory.

    Raises:
        UnreadableFile: the file is missing or of another form.
    """
    try:
        with path.open("rb") as file:
            if file.peek(1)[:1] != b"[":
                yield from read_rows(path, CHATS)
                return
            for row in ijson.items(file, "item", use_float=True):
                form = PUBLISHED.validate_python(row)
                yield _from_sample(form) if isinstance(form, Sample) else _from_item(form)
    except (OSError, ijson.JSONError, ValidationError, KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(f"{path} holds no chats in a known form.") from error


def _from_item(item: Item) -> Chat:
    """Return a history in the order of time, and its one question."""
    never, sessions = item.question_id.endswith("_abs"), item.haystack_sessions
    dated = zip(item.haystack_dates, item.haystack_session_ids, sessions, strict=True)
    turns = [
        (f"{name}:{place}", start + place * TURN_LENGTH, turn)
        for start, name, said in sorted(dated, key=lambda session: session[0])
        for place, turn in enumerate(said)
    ]
    row = {
        "id": item.question_id,
        "q": item.question,
        "kind": "abstention" if never else item.question_type,
        "gold": [key for key, _, turn in turns if turn.has_answer and not never],
        "answer": item.answer,
        "at": item.question_date,
    }
    said = [Said(id=key, role=turn.role, content=turn.content, at=at) for key, at, turn in turns]
    return Chat(id=item.question_id, messages=said, questions=[Question.model_validate(row)])


def _from_sample(sample: Sample) -> Chat:
    said = [
        Said(id=m.metadata["dia_id"], role=m.role, name=m.name, content=m.content, at=m.occurred_at)
        for m in to_messages(sample.conversation)
    ]
    questions = []
    for number, row in enumerate(sample.qa):
        answer = None if row.category == NO_ANSWER else row.answer
        gold = [] if answer is None else [*parse_turns(row.evidence)]
        kind = CATEGORIES.get(row.category, "other")
        questions += [Question(id=number, q=row.question, kind=kind, gold=gold, answer=answer)]
    return Chat(id=sample.sample_id, messages=said, questions=questions)


def to_conversations(chat: Chat, *, sessions: bool = False) -> Iterator[LoadedConversation]:
    """Yield a chat as it is posted, or each of its sessions; a message's metadata has its id."""
    messages = [
        Message(
            role=said.role,
            name=said.name or "",
            content=said.content,
            occurred_at=said.at or START + place * TURN_LENGTH,
            metadata={"id": said.id},
        )
        for place, said in enumerate(chat.messages)
        if said.content.strip()
    ]
    if not sessions:
        yield LoadedConversation(str(chat.id), to_uuid(f"public {chat.id}"), tuple(messages))
        return
    for part, some in groupby(messages, key=lambda m: m.metadata["id"].rpartition(":")[0]):
        name = f"public {chat.id} session {part}"
        yield LoadedConversation(name, to_uuid(name), tuple(some), str(chat.id))

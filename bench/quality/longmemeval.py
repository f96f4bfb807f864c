"""Evidence that answers to LongMemEval's questions hold within budgets of tokens.

Each question has a history of its own, which becomes a conversation; its evidence are the turns
that are marked. Questions about what was never said have none, and are left out. Files S, M and
oracle have the same form. All else is as `public` has it.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

import ijson
from pydantic import BaseModel, BeforeValidator, ValidationError, model_validator

from bench.quality import public
from bench.quality.public import Chat, Question, Said
from bench.quality.report import Report
from wings.transfer.loading import UnreadableFile

TURN_LENGTH = timedelta(minutes=1)
NEVER_SAID = "_abs"


def read_time(text: str) -> datetime:
    """Return the moment of "2023/05/20 (Sat) 02:21"."""
    day, _, time = text.split()
    return datetime.strptime(f"{day} {time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


class Turn(BaseModel):
    """What was said; `has_answer` where the answer stands."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool = False


class Item(BaseModel):
    """A question with the history that it is asked about."""

    question_id: str
    question_type: str
    question: str
    haystack_dates: list[Annotated[datetime, BeforeValidator(read_time)]]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        count = len(self.haystack_sessions)
        if not len(self.haystack_dates) == len(self.haystack_session_ids) == count:
            raise ValueError("Each session must have an id and a date.")
        return self

    def to_chat(self) -> Chat:
        """Return the history in the order of time, and its one question."""
        sessions = zip(
            self.haystack_dates, self.haystack_session_ids, self.haystack_sessions, strict=True
        )
        said, gold = [], []
        for start, name, turns in sorted(sessions, key=lambda session: session[0]):
            for place, turn in enumerate(turns):
                at, key = start + place * TURN_LENGTH, f"{name}:{place}"
                said.append(Said(id=key, role=turn.role, content=turn.content, at=at))
                gold += [key] if turn.has_answer else []
        asked = Question(id=self.question_id, q=self.question, kind=self.question_type, gold=gold)
        return Chat(id=self.question_id, messages=said, questions=[asked])


add_options = public.add_options


def measure(options: Namespace) -> Report:
    """Return the mean shares of evidence by kind of question and budget."""
    return public.measure_chats(read_chats(options.path), options)


def read_chats(path: Path) -> Iterator[Chat]:
    """Yield the questions that have an answer, one at a time: M is larger than memory.

    Raises:
        UnreadableFile: the file does not hold LongMemEval's questions.
    """
    try:
        with path.open("rb") as file:
            for row in ijson.items(file, "item"):
                item = Item.model_validate(row)
                if not item.question_id.endswith(NEVER_SAID):
                    yield item.to_chat()
    except (OSError, ijson.JSONError, ValidationError) as error:
        raise UnreadableFile(f"{path} does not hold LongMemEval's questions.") from error

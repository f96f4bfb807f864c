"""MemoryBank's Chinese dialogues: loading them, asking, and counting what comes back.

A *turn* is one thing that the user said together with the answer to it, so two messages.
The gold names turns. A turn is retrieved where the text of one answer, packed into a small
budget, shows one of its two messages: what counts is what an agent would read, in the
order in which he reads it, not a list behind it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from episodic.loading import TURN_LENGTH, LoadedConversation, UnreadableFile, to_uuid
from episodic.models import Role
from episodic.services import NewMessage
from indexing import text

HISTORY_FILE = "memory_bank_cn.json"
GOLD_FILE = "gold_cn.json"
SHARE_SHOWN = 0.5
"""Of a message's words: with fewer of them in a text it is hinted at, not shown."""
MAX_TOKENS = 300
"""Holds five turns of this data, seldom more."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question, and the turns that answer it. `dated`: it names the day."""

    conversation: str
    question: str
    turns: frozenset[str]
    dated: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """What a question got: turns in the order in which the answer shows them."""

    asked: GoldQuestion
    turns: tuple[str, ...]


def read_dialogues(folder: Path) -> list[LoadedConversation]:
    """Return one conversation a user; each message's metadata names its turn.

    Raises:
        UnreadableFile: the folder does not hold MemoryBank's file.
    """
    path = folder / HISTORY_FILE
    try:
        users: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return [
            LoadedConversation(
                name=name,
                external_id=to_uuid(name),
                messages=tuple(_read_messages(number, name, user["history"])),
            )
            for number, (name, user) in enumerate(users.items())
        ]
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(
            f'{path} must be {{name: {{"history": {{day: [{{"query", "response"}}]}}}}}}.'
        ) from error


def _read_messages(
    number: int, name: str, history: Mapping[str, Sequence[Mapping[str, str]]]
) -> Iterator[NewMessage]:
    for day, turns in history.items():
        start = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)
        said = [
            (place, role, turn[key])
            for place, turn in enumerate(turns)
            for role, key in ((Role.USER, "query"), (Role.ASSISTANT, "response"))
        ]
        for count, (place, role, content) in enumerate(said):
            yield NewMessage(
                role=role,
                content=content,
                occurred_at=start + count * TURN_LENGTH,
                name=name if role == Role.USER else "",
                metadata={"turn": f"{number}:{day}:{place}"},
            )


def read_questions(folder: Path) -> list[GoldQuestion]:
    """Return the questions with their gold turns.

    Raises:
        UnreadableFile: the folder does not hold the gold.
    """
    path = folder / GOLD_FILE
    try:
        return [
            GoldQuestion(
                conversation=row["name"],
                question=row["question"],
                turns=frozenset(row["gold"]),
                dated=bool(row.get("dated")),
            )
            for row in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(f'{path} must list {{"name", "question", "gold"}}.') from error


def check_gold(
    conversations: Sequence[LoadedConversation], questions: Sequence[GoldQuestion]
) -> None:
    """Raise UnreadableFile where a question has no gold, or gold that was never said."""
    said = {
        (conversation.name, message.metadata["turn"])
        for conversation in conversations
        for message in conversation.messages
    }
    for asked in questions:
        named = {(asked.conversation, turn) for turn in asked.turns}
        if not named or not named <= said:
            raise UnreadableFile(f"The gold of {asked.question!r} names no turn of its user.")
    if not questions:
        raise UnreadableFile("There is no question.")


def turns_shown(given: Answer, *, contents: Mapping[int, str]) -> Iterator[str]:
    """Yield the turn of each message whose words stand in the answer, in its order.

    `contents` has the messages by seq. A fact shows a message only if it repeats it.
    """
    for block in given["blocks"]:
        words = set(text.prepare(block["text"]).split())
        for source in block["sources"]:
            wanted = set(text.prepare(contents[source["seq"]]).split())
            if len(wanted & words) >= SHARE_SHOWN * len(wanted):
                yield source["metadata"]["turn"]


def to_reply(asked: GoldQuestion, given: Answer, *, contents: Mapping[int, str]) -> Reply:
    """Return what an answer shows, each turn once."""
    turns = dict.fromkeys(turns_shown(given, contents=contents))
    return Reply(asked=asked, turns=tuple(turns))


def recall_at(replies: Sequence[Reply], *, turns: int | None) -> float:
    """Return the mean share of a question's gold among its first `turns` turns; None: all."""
    shares = [
        len(reply.asked.turns & set(reply.turns[:turns])) / len(reply.asked.turns)
        for reply in replies
    ]
    return sum(shares) / len(shares) if shares else 0.0


def mean_turns(replies: Sequence[Reply]) -> float:
    """Return how many turns an answer shows."""
    return sum(len(reply.turns) for reply in replies) / len(replies) if replies else 0.0

"""LoCoMo's samples: their conversations and questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from episodic.models import Message, Role

TURN = re.compile(r"D:?(\d+):(\d+)")
Turns = str | list[str]
TURN_LENGTH = timedelta(seconds=40)
"""LoCoMo dates sessions, not turns."""
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


class Question(BaseModel):
    """A question; one without an `answer` asks for what was never said."""

    question: str
    answer: str | int | float | None = None
    evidence: Turns = ""
    category: int = 0


class Sample(BaseModel):
    """A conversation with its questions."""

    sample_id: str | int
    conversation: dict[str, Any]
    qa: list[Question] = []


def to_messages(conversation: dict[str, Any]) -> Iterator[Message]:
    """Yield the turns of all sessions, in order."""
    sessions = (re.fullmatch(r"session_(\d+)", key) for key in conversation)
    for session in sorted(int(match[1]) for match in sessions if match):
        start = datetime.strptime(conversation[f"session_{session}_date_time"], LOCOMO_TIME)
        for number, turn in enumerate(conversation[f"session_{session}"]):
            caption = turn.get("blip_caption")
            shared = f" [shared a photo: {caption}]" if caption else ""
            yield Message(
                role=Role.USER,
                content=(turn["text"] + shared).strip() or "…",
                occurred_at=start.replace(tzinfo=UTC) + number * TURN_LENGTH,
                name=turn["speaker"],
                metadata={"dia_id": turn["dia_id"]},
            )


def parse_turns(text: Turns) -> tuple[str, ...]:
    """Return the turn ids in a text or a list of texts, as D<session>:<turn>."""
    parts = TURN.findall(text if isinstance(text, str) else " ".join(text))
    return tuple(f"D{int(session)}:{int(turn)}" for session, turn in parts)

"""Messages as pages show them: in order, masked for who may not read them, long ones cut."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left, Length

from episodic.models import Message
from episodic.revealing import Reader, mask_of_length

CUT_AT = 2_000
"""Characters of one message; its own page has them all."""
SILENCE_FROM = timedelta(hours=1)
SILENCE_CUTS = timedelta(hours=3)
"""From here on a silence is always a boundary between episodes."""


@dataclass(frozen=True, slots=True)
class Silence:
    """The time without a message before one."""

    duration: timedelta

    @property
    def words(self) -> str:
        """How long, in two units at most."""
        return render_span(self.duration)

    @property
    def is_long(self) -> bool:
        """Whether it alone parts two episodes."""
        return self.duration >= SILENCE_CUTS


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message, as the person may see it."""

    id: uuid.UUID
    seq: int
    role: str
    name: str
    occurred_at: datetime
    episode_id: uuid.UUID | None
    quarantined_by_id: uuid.UUID | None
    """The job that failed because of it."""
    withheld_by_id: uuid.UUID | None
    """Why it is neither processed nor served: its source was rolled back."""
    characters: int
    text: str
    is_masked: bool
    silence: Silence | None

    @property
    def speaker(self) -> str:
        """Its name, else its role."""
        return self.name or self.role

    @property
    def is_cut(self) -> bool:
        """Whether there is more of it than is shown."""
        return not self.is_masked and self.characters > CUT_AT


def read_transcript(
    messages: QuerySet[Message], *, conversation_id: uuid.UUID, reader: Reader
) -> list[ShownMessage]:
    """Return messages in order, in one query; who may not read them does not load them.

    A message's silence is measured from the one before it in `messages`.
    """
    readable = reader.may_read(conversation_id)
    texts: dict[str, Any] = {"characters": Length("content")}
    if readable:
        texts["head"] = Left("content", CUT_AT)
    columns = (
        "id", "seq", "role", "name", "occurred_at", "episode_id", "quarantined_by_id",
        "withheld_by_id",
    )  # fmt: skip
    shown: list[ShownMessage] = []
    for row in messages.annotate(**texts).order_by("seq").values(*columns, *texts):
        text = row.pop("head") if readable else mask_of_length(row["characters"])
        silence = _silence_between(shown[-1].occurred_at, row["occurred_at"]) if shown else None
        shown.append(ShownMessage(**row, text=text, is_masked=not readable, silence=silence))
    return shown


def _silence_between(earlier: datetime, later: datetime) -> Silence | None:
    duration = later - earlier
    return Silence(duration) if duration >= SILENCE_FROM else None


def render_span(span: timedelta) -> str:
    """Return a span of time in words: `3 days 9 hours`, `20 minutes`, `under a minute`."""
    minutes = int(span.total_seconds()) // 60
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60 if not days else 0, "minute")]
    words = [f"{number:,} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
    return " ".join(words) or "under a minute"

"""Messages as pages show them: in order, masked for who may not read them, long ones cut."""

import uuid
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.db.models.functions import Left, Length

from episodic.models import Message
from episodic.revealing import Reader, mask_of_length

CUT_AT = 2_000
"""Characters of one message; its own page has them all."""
SILENCE_FROM = timedelta(hours=1)
SILENCE_CUTS = timedelta(hours=3)
"""From here on a silence is always a boundary between episodes."""


class ShownMessage(NamedTuple):
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
    silence: timedelta
    """The time without a message before it."""

    @property
    def speaker(self) -> str:
        """Its name, else its role."""
        return self.name or self.role

    @property
    def silence_words(self) -> str:
        """How long the silence was, in two units at most; empty for a short one."""
        return render_span(self.silence) if self.silence >= SILENCE_FROM else ""

    @property
    def is_after_long_silence(self) -> bool:
        """Whether the silence alone parts two episodes."""
        return self.silence >= SILENCE_CUTS

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
        silence = row["occurred_at"] - shown[-1].occurred_at if shown else timedelta()
        shown.append(ShownMessage(**row, text=text, is_masked=not readable, silence=silence))
    return shown


def render_span(span: timedelta) -> str:
    """Return a span of time in words: `3 days 9 hours`, `20 minutes`, `under a minute`."""
    minutes = int(span.total_seconds()) // 60
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60 if not days else 0, "minute")]
    words = [f"{number:,} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
    return " ".join(words) or "under a minute"

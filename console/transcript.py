"""Messages as pages show them: in order, masked where they must be, cut where they are long."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
    """That nobody said anything for a while before a message."""

    lasted: timedelta

    @property
    def words(self) -> str:
        """How long, in two units at most."""
        return say_span(self.lasted)

    @property
    def is_long(self) -> bool:
        """Whether it alone parts two episodes."""
        return self.lasted >= SILENCE_CUTS


@dataclass(frozen=True, slots=True)
class Said:
    """One message, as the person may see it."""

    id: uuid.UUID
    seq: int
    role: str
    speaker: str
    text: str
    is_masked: bool
    characters: int
    at: datetime
    episode_id: uuid.UUID | None
    set_aside_by: uuid.UUID | None
    """The job that no engine could finish because of it."""
    withheld_by: uuid.UUID | None
    """Why it is neither learnt from nor served."""
    silence: Silence | None

    @property
    def stamp(self) -> str:
        """When it was said, to the second, in UTC."""
        return self.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")

    @property
    def is_cut(self) -> bool:
        """Whether there is more of it than is shown."""
        return not self.is_masked and self.characters > CUT_AT


def read_transcript(
    messages: QuerySet[Message], *, conversation_id: uuid.UUID, reader: Reader
) -> list[Said]:
    """Return messages in order, in one query; who may not read them does not load them.

    A message's silence is measured from the one before it in `messages`.
    """
    may_read = reader.may_read(conversation_id)
    texts: dict[str, Any] = {"characters": Length("content")}
    if may_read:
        texts["head"] = Left("content", CUT_AT)
    columns = (
        "id", "seq", "role", "name", "occurred_at", "episode_id", "quarantined_by_id",
        "withheld_by_id",
    )  # fmt: skip
    said: list[Said] = []
    for row in messages.annotate(**texts).order_by("seq").values(*columns, *texts):
        said.append(
            Said(
                id=row["id"],
                seq=row["seq"],
                role=row["role"],
                speaker=row["name"] or row["role"],
                text=row["head"] if may_read else mask_of_length(row["characters"]),
                is_masked=not may_read,
                characters=row["characters"],
                at=row["occurred_at"],
                episode_id=row["episode_id"],
                set_aside_by=row["quarantined_by_id"],
                withheld_by=row["withheld_by_id"],
                silence=_silence_between(said[-1].at, row["occurred_at"]) if said else None,
            )
        )
    return said


def _silence_between(earlier: datetime, later: datetime) -> Silence | None:
    lasted = later - earlier
    return Silence(lasted) if lasted >= SILENCE_FROM else None


def say_span(span: timedelta) -> str:
    """Return a span of time in words: `3 days 9 hours`, `20 minutes`, `under a minute`."""
    minutes = int(span.total_seconds()) // 60
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60 if not days else 0, "minute")]
    return " ".join(_counted(number, unit) for number, unit in parts if number) or "under a minute"


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def write_seqs(seqs: Iterable[int]) -> str:
    """Return seqs as readers write them: `3–5, 9`."""
    runs: list[list[int]] = []
    for seq in sorted(set(seqs)):
        if runs and seq == runs[-1][1] + 1:
            runs[-1][1] = seq
        else:
            runs.append([seq, seq])
    return ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in runs)

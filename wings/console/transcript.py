"""Messages for pages: in order, masked if they may not be read, long ones cut."""

import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left, Length

from episodic.models import Message
from episodic.revealing import Reader, mask_of_length

COLUMNS = "id seq role name occurred_at episode_id quarantined_by_id withheld_by_id".split()
CUT_AT = 2_000
"""Characters shown of a message; its own page shows all."""
SILENCE_FROM = timedelta(hours=1)
SILENCE_CUTS = timedelta(hours=3)
"""Silence from which on episodes are always separated."""


ShownMessage = SimpleNamespace
"""One message, with the columns and texts that the person may see.

`text` is a mask, or the beginning; `is_cut`: there is more. `characters` counts the whole text,
`silence_words` tells the silence before it, empty if short.
"""


def read_transcript(
    messages: QuerySet[Message], *, conversation_id: uuid.UUID, reader: Reader
) -> list[ShownMessage]:
    """Return messages in order, by one query; contents that may not be read are not loaded.

    A message's silence is measured from the one before it in `messages`.
    """
    readable = reader.may_read(conversation_id)
    texts: dict[str, Any] = {"characters": Length("content")}
    if readable:
        texts["head"] = Left("content", CUT_AT)
    shown: list[ShownMessage] = []
    for row in messages.annotate(**texts).order_by("seq").values(*COLUMNS, *texts):
        silence = row["occurred_at"] - shown[-1].occurred_at if shown else timedelta()
        beside = {
            "speaker": row["name"] or row["role"],
            "text": row.pop("head") if readable else mask_of_length(row["characters"]),
            "is_masked": not readable,
            "is_cut": readable and row["characters"] > CUT_AT,
            "silence_words": render_span(silence) if silence >= SILENCE_FROM else "",
            "is_after_long_silence": silence >= SILENCE_CUTS,
        }
        shown.append(ShownMessage(**row, **beside))
    return shown


def render_span(span: timedelta) -> str:
    """Return a span of time as text: `3 days 9 hours`, `20 minutes`, `under a minute`."""
    minutes = int(span.total_seconds()) // 60
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60 if not days else 0, "minute")]
    words = [f"{number:,} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
    return " ".join(words) or "under a minute"

"""Parses and validates a row of a file of facts."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import pydantic
from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import from_json

from memoryproject.edge.errors import Problem
from semantic.curation import KEYWORD_AT_MOST, KEYWORDS_AT_MOST, SENTENCE_AT_MOST
from semantic.engines import Category
from semantic.keywords import pick_keywords

EPISODES_AT_MOST = 100
STORABLE = r"^[^\x00]*$"
"""Pattern of text that can be stored; pydantic rejects half surrogate pairs."""


class Unusable(Problem):
    """A row that cannot become a fact; the message says why, without quoting it."""


class Closed(Unusable):
    """A row that is a retired fact."""


def _split_words(value: Any) -> Any:
    """Return words from a cell: separated by semicolons, or a JSON list."""
    if isinstance(value, str):
        value = from_json(value) if value.startswith("[") else value.split(";")
    if not isinstance(value, Iterable) or not all(isinstance(word, str) for word in value):
        raise ValueError("no words")
    return [word for word in dict.fromkeys(map(str.strip, value)) if word]


def _to_utc(value: Any) -> datetime:
    """Return a time from ISO 8601; without an offset it is UTC, and a day begins at midnight."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, OverflowError) as error:
        raise ValueError("no time") from error


class Support(pydantic.BaseModel):
    """An episode that supports a fact, and the seqs in it; empty: the whole episode."""

    episode: uuid.UUID
    messages: tuple[Annotated[int, Field(strict=True, gt=0, lt=2**63)], ...] | None = None


SUPPORTS = pydantic.TypeAdapter(Annotated[list[Support], Field(max_length=EPISODES_AT_MOST)])


def _read_support(value: Any) -> Any:
    """Return seqs by episode, from `ID:3,4 ID` or from [{"episode", "messages"}]."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        parts = (part.partition(":") for part in value.split())
        value = [
            {"episode": episode, "messages": [*map(int, seqs.split(","))] if seqs else None}
            for episode, _, seqs in parts
        ]
    parsed = SUPPORTS.validate_python(value)
    return {part.episode: tuple(sorted(set(part.messages or ()))) for part in parsed}


class Row(pydantic.BaseModel):
    """A fact in a file. `conversation` is the agent's id.

    `support` has the supporting seqs by episode id; no seqs: the whole episode. `valid_at` None:
    the time of the import. `valid_until` is in the past, or None. `source` is the record in another
    system.
    """

    model_config = pydantic.ConfigDict(frozen=True)

    conversation: uuid.UUID
    category: Annotated[
        Category, BeforeValidator(lambda word: word.lower() if isinstance(word, str) else word)
    ]
    fact: Annotated[
        str, StringConstraints(min_length=1, max_length=SENTENCE_AT_MOST, pattern=STORABLE)
    ]
    keywords: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=KEYWORD_AT_MOST, pattern=STORABLE)], ...],
        BeforeValidator(_split_words),
        Field(max_length=KEYWORDS_AT_MOST),
    ] = ()
    valid_at: Annotated[datetime, BeforeValidator(_to_utc)] | None = None
    support: Annotated[dict[uuid.UUID, tuple[int, ...]], BeforeValidator(_read_support)] = {}
    valid_until: datetime | None = None
    source: uuid.UUID | None = None


COLUMNS = {"conversation": "conversation_id", "support": "evidence"}
"""Accepted names of columns in a file."""
FAULTS = {
    "conversation": "`conversation_id` is missing, or no UUID.",
    "category": f"`category` must be one of: {', '.join(Category)}.",
    "fact": f"`fact` must be a sentence of at most {SENTENCE_AT_MOST:,} characters that can be "
    "stored.",
    "keywords": "`keywords` must be words with semicolons between them, or a list: at most "
    f"{KEYWORDS_AT_MOST}, each of {KEYWORD_AT_MOST} characters that can be stored.",
    "valid_at": "`valid_at` must be a day or a time, as in 2026-03-02T09:00Z.",
    "support": '`evidence` must be `EPISODE:3,4 EPISODE` or {"episode", "messages"}, '
    f"at most {EPISODES_AT_MOST}.",
}


def parse_row(cells: Mapping[str, Any], *, conversation: uuid.UUID | None = None) -> Row:
    """Return the fact of a row; `conversation` is for rows that name none.

    Raises:
        Closed: it is retired.
        Unusable: something is missing or wrong.
    """
    if cells.get("invalid_at") or cells.get("valid_until"):
        raise Closed("It is retired, or over.")
    said = {name: cells.get(COLUMNS.get(name, name)) for name in FAULTS}
    trimmed = {name: cell.strip() if isinstance(cell, str) else cell for name, cell in said.items()}
    values = {name: cell for name, cell in trimmed.items() if cell not in (None, "")}
    try:
        row = Row.model_validate({"conversation": conversation, **values})
    except pydantic.ValidationError as error:
        raise Unusable(FAULTS[str(error.errors()[0]["loc"][0])]) from None
    keywords = row.keywords or pick_keywords(row.fact, speaker="")
    return row.model_copy(update={"keywords": tuple(keywords)})

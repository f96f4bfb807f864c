"""Parses and checks a row of a file of facts: whether it is a fact that could be imported."""

import json
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from memoryproject.edge.errors import Problem
from memoryproject.edge.http import UNSTORABLE
from semantic.curation import KEYWORD_AT_MOST, KEYWORDS_AT_MOST, SENTENCE_AT_MOST
from semantic.engines import Category
from semantic.keywords import pick_keywords

EPISODES_AT_MOST = 100
SEQ_BELOW = 2**63


class Unusable(Problem):
    """A row that is no fact to open; the message says why, without what it says."""


class Closed(Unusable):
    """A row that is a retired fact."""


class Row(BaseModel):
    """A fact as a file has it. `conversation` is the agent's id of it.

    `support` has the seqs that say it by the id of an episode; no seqs: all of it.
    `valid_at` None: from when it is imported. `valid_until` is in the past, or None. `source` is
    the record of another system that it comes from.
    """

    model_config = ConfigDict(frozen=True)

    conversation: uuid.UUID
    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime | None
    support: dict[uuid.UUID, tuple[int, ...]]
    valid_until: datetime | None = None
    source: uuid.UUID | None = None


def parse_row(cells: Mapping[str, Any], *, conversation: uuid.UUID | None = None) -> Row:
    """Return the fact of a row; `conversation` is that of rows which name none.

    Raises:
        Closed: it is retired.
        Unusable: something is missing or wrong.
    """
    if cells.get("invalid_at") or cells.get("valid_until"):
        raise Closed("It is retired, or over.")
    sentence = _parse_sentence(cells.get("fact"))
    keywords = _parse_keywords(cells.get("keywords"))
    return Row(
        conversation=_parse_conversation(cells.get("conversation_id"), conversation),
        category=_parse_category(cells.get("category")),
        fact=sentence,
        keywords=keywords or pick_keywords(sentence, speaker=""),
        valid_at=_parse_moment(cells.get("valid_at")),
        support=_parse_support(cells.get("evidence")),
    )


def _parse_sentence(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unusable("`fact` must be a sentence.")
    if len(value) > SENTENCE_AT_MOST:
        raise Unusable(f"`fact` is longer than {SENTENCE_AT_MOST:,} characters.")
    return _check_storable(value.strip(), name="fact")


def _check_storable(text: str, *, name: str) -> str:
    if UNSTORABLE.search(text):
        raise Unusable(f"`{name}` holds characters that cannot be stored.")
    return text


def _parse_category(value: Any) -> Category:
    try:
        return Category(value.strip().lower())
    except (AttributeError, ValueError) as error:
        raise Unusable(f"`category` must be one of: {', '.join(Category)}.") from error


def _parse_conversation(value: Any, usual: uuid.UUID | None) -> uuid.UUID:
    if not value and usual is not None:
        return usual
    if not value:
        raise Unusable("`conversation_id` is missing.")
    return _parse_id(value, name="conversation_id")


def _parse_id(value: Any, *, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(value.strip())
    except (AttributeError, ValueError) as error:
        raise Unusable(f"`{name}` must be a UUID.") from error


def _parse_keywords(value: Any) -> tuple[str, ...]:
    words = _split_words(value) if isinstance(value, str) else value or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Unusable("`keywords` must be words with semicolons between them, or a list.")
    keywords = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if len(keywords) > KEYWORDS_AT_MOST or any(len(word) > KEYWORD_AT_MOST for word in keywords):
        limits = f"`keywords` are at most {KEYWORDS_AT_MOST}, each of {KEYWORD_AT_MOST} characters."
        raise Unusable(limits)
    return tuple(_check_storable(word, name="keywords") for word in keywords)


def _split_words(cell: str) -> Any:
    """Return the words of a cell: with semicolons between them, or a list in JSON."""
    try:
        return json.loads(cell) if cell.startswith("[") else cell.split(";")
    except (ValueError, RecursionError):
        return None


def _parse_moment(value: Any) -> datetime | None:
    """Return a time; without an offset it is UTC, a day begins at midnight."""
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, ValueError, OverflowError) as error:
        raise Unusable("`valid_at` must be a day or a time, as in 2026-03-02T09:00Z.") from error


def _parse_support(value: Any) -> dict[uuid.UUID, tuple[int, ...]]:
    """Return episodes with seqs, from `ID:3,4 ID` or from [{"episode", "messages"}]."""
    if value is None or value == "":
        return {}
    parts = [_split_support(part) for part in value.split()] if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) > EPISODES_AT_MOST:
        raise Unusable(f"`evidence` must be a list of at most {EPISODES_AT_MOST} episodes.")
    support: dict[uuid.UUID, tuple[int, ...]] = {}
    for part in parts:
        seqs = part.get("messages") or [] if isinstance(part, dict) else None
        if not isinstance(seqs, list) or not all(
            type(seq) is int and 0 < seq < SEQ_BELOW for seq in seqs
        ):
            raise Unusable('`evidence` must be `EPISODE:3,4 EPISODE` or {"episode", "messages"}.')
        support[_parse_id(part.get("episode"), name="evidence")] = tuple(sorted(set(seqs)))
    return support


def _split_support(text: str) -> dict[str, Any]:
    episode, _, seqs = text.partition(":")
    numbers = [
        int(seq) if re.fullmatch(r"\d{1,15}", seq, re.A) else None for seq in seqs.split(",")
    ]
    return {"episode": episode, "messages": numbers if seqs else []}

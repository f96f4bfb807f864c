"""A row of a file of facts, each checked by itself: is it a fact that could be opened?"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from memoryproject.errors import Problem
from semantic.curation import KEYWORD_AT_MOST, KEYWORDS_AT_MOST, SENTENCE_AT_MOST
from semantic.engines import Category
from semantic.keywords import pick_keywords

EPISODES_AT_MOST = 100
SEQ_BELOW = 2**63


class Unusable(Problem):
    """A row that is no fact to open; the message says why, without what it says."""


class Closed(Unusable):
    """A row that is a fact no longer held."""


@dataclass(frozen=True, slots=True)
class Row:
    """A fact as a file has it. `conversation` is the agent's id of it.

    `support` has the seqs that say it by the id of an episode; no seqs: all of it.
    `valid_at` None: from when it is imported.
    """

    conversation: uuid.UUID
    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime | None
    support: Mapping[uuid.UUID, tuple[int, ...]]

    def to_json(self) -> dict[str, Any]:
        """Return a form that can be stored; `from_json` reads it."""
        return {
            **asdict(self),
            "conversation": str(self.conversation),
            "valid_at": self.valid_at.isoformat() if self.valid_at else None,
            "support": {str(one): list(seqs) for one, seqs in self.support.items()},
        }


def from_json(stored: Mapping[str, Any]) -> Row:
    """Return the row that `to_json` was given."""
    return Row(
        conversation=uuid.UUID(stored["conversation"]),
        category=Category(stored["category"]),
        fact=stored["fact"],
        keywords=tuple(stored["keywords"]),
        valid_at=datetime.fromisoformat(stored["valid_at"]) if stored["valid_at"] else None,
        support={uuid.UUID(one): tuple(seqs) for one, seqs in stored["support"].items()},
    )


def read_row(given: Mapping[str, Any], *, conversation: uuid.UUID | None = None) -> Row:
    """Return the fact of a row; `conversation` is that of rows which name none.

    Raises:
        Closed: it was held once.
        Unusable: something is missing or wrong.
    """
    if given.get("invalid_at") or given.get("valid_until"):
        raise Closed("It is no longer held, or over.")
    sentence = _read_sentence(given.get("fact"))
    keywords = _read_keywords(given.get("keywords"))
    return Row(
        conversation=_read_conversation(given.get("conversation_id"), conversation),
        category=_read_category(given.get("category")),
        fact=sentence,
        keywords=keywords or pick_keywords(sentence, speaker=""),
        valid_at=_read_moment(given.get("valid_at")),
        support=_read_support(given.get("evidence")),
    )


def _read_sentence(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise Unusable("`fact` must be a sentence.")
    if len(given) > SENTENCE_AT_MOST:
        raise Unusable(f"`fact` is longer than {SENTENCE_AT_MOST:,} characters.")
    return _check_storable(given.strip(), name="fact")


def _check_storable(text: str, *, name: str) -> str:
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise Unusable(f"`{name}` holds characters that cannot be stored.")
    return text


def _read_category(given: Any) -> Category:
    try:
        return Category(given.strip().lower())
    except (AttributeError, ValueError) as error:
        raise Unusable(f"`category` must be one of: {', '.join(Category)}.") from error


def _read_conversation(given: Any, usual: uuid.UUID | None) -> uuid.UUID:
    if not given and usual is not None:
        return usual
    if not given:
        raise Unusable("`conversation_id` is missing.")
    return _read_id(given, name="conversation_id")


def _read_id(given: Any, *, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(given.strip())
    except (AttributeError, ValueError) as error:
        raise Unusable(f"`{name}` must be a UUID.") from error


def _read_keywords(given: Any) -> tuple[str, ...]:
    words = _split_words(given) if isinstance(given, str) else given or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Unusable("`keywords` must be words with semicolons between them, or a list.")
    found = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if len(found) > KEYWORDS_AT_MOST or any(len(word) > KEYWORD_AT_MOST for word in found):
        said = f"`keywords` are at most {KEYWORDS_AT_MOST}, each of {KEYWORD_AT_MOST} characters."
        raise Unusable(said)
    return tuple(_check_storable(word, name="keywords") for word in found)


def _split_words(cell: str) -> Any:
    """Return the words of a cell: with semicolons between them, or a list in JSON."""
    try:
        return json.loads(cell) if cell.startswith("[") else cell.split(";")
    except (ValueError, RecursionError):
        return None


def _read_moment(given: Any) -> datetime | None:
    """Return a time; without an offset it is UTC, a day begins at midnight."""
    if given is None or given == "":
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, ValueError, OverflowError) as error:
        raise Unusable("`valid_at` must be a day or a time, as in 2026-03-02T09:00Z.") from error


def _read_support(given: Any) -> dict[uuid.UUID, tuple[int, ...]]:
    """Return episodes with seqs, from `ID:3,4 ID` or from [{"episode", "messages"}]."""
    if given is None or given == "":
        return {}
    parts = [_split_support(part) for part in given.split()] if isinstance(given, str) else given
    if not isinstance(parts, list) or len(parts) > EPISODES_AT_MOST:
        raise Unusable(f"`evidence` must be a list of at most {EPISODES_AT_MOST} episodes.")
    found: dict[uuid.UUID, tuple[int, ...]] = {}
    for part in parts:
        seqs = part.get("messages") or [] if isinstance(part, dict) else None
        if not isinstance(seqs, list) or not all(
            type(seq) is int and 0 < seq < SEQ_BELOW for seq in seqs
        ):
            raise Unusable('`evidence` must be `EPISODE:3,4 EPISODE` or {"episode", "messages"}.')
        found[_read_id(part.get("episode"), name="evidence")] = tuple(sorted(set(seqs)))
    return found


def _split_support(text: str) -> dict[str, Any]:
    episode, _, seqs = text.partition(":")
    numbers = [
        int(seq) if re.fullmatch(r"\d{1,15}", seq, re.A) else None for seq in seqs.split(",")
    ]
    return {"episode": episode, "messages": numbers if seqs else []}

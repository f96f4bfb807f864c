"""What an answer is chosen from, loaded by one statement: facts, messages, episodes."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

from episodic.models import Conversation, Episode, Message
from indexing.models import MemoryKind
from retrieval.hits import EpisodeHit, FactHit, Hit
from retrieval.statements import read_file
from semantic.models import Evidence, Fact

PINNED_AT_MOST = 10
"""Facts that an agent gets unasked: guidelines, and what may endanger somebody."""
# In the order in which the models have them.
FACT = ("id", "category", "fact", "keywords", "is_pinned", "valid_at", "invalid_at")
EVIDENCE = ("id", "episode_id", "message_seqs")
MESSAGE = (
    "id", "seq", "role", "name", "content", "occurred_at", "metadata", "token_sizes", "episode_id",
)  # fmt: skip
EPISODE = (
    "id", "title", "summary", "stability", "difficulty", "surprise", "start_at", "end_at",
    "created_at", "last_reviewed_at", "consolidated_at",
)  # fmt: skip
IDS = ("id", "episode_id")
Row = TypeVar("Row", bound=Model)
Said = Mapping[tuple[uuid.UUID | None, int], Message]
"""Messages by episode and seq."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was loaded, facts and episodes each in the order in which they were found."""

    facts: list[FactHit]
    pinned: list[FactHit]
    """Facts that the search did not find, newest first, ranked behind those that it did."""
    episodes: list[EpisodeHit]
    messages: dict[int, Message]
    """By seq: those asked for, and those of whole episodes, with what they say."""
    retired: set[int]
    """Messages that say what is over or wrong, and nothing that is still active."""


def load_candidates(
    conversation: Conversation,
    facts: Sequence[Hit] = (),
    episodes: Sequence[Hit] = (),
    *,
    with_pinned: bool = False,
    described: bool = False,
    whole: bool = False,
    seqs: Collection[int] = (),
    with_retired: bool = False,
) -> Candidates:
    """Load what the answer may need, in one statement; what was erased meanwhile is missing.

    Of the episodes their own rows (`described`) with all their messages (`whole`), or which of
    their messages are over (`with_retired`). `seqs`: single messages that are wanted.
    """
    parameters: dict[str, Any] = {
        "tenant": conversation.tenant_id,
        "conversation": conversation.id,
        "facts": [hit.memory_id for hit in facts],
        "pinned": PINNED_AT_MOST if with_pinned else 0,
        "episodes": [hit.memory_id for hit in episodes],
        "described": described,
        "whole": whole,
        "seqs": list(seqs),
        "retired": with_retired,
    }
    rows = defaultdict[str, list[Any]](list)
    with connection.cursor() as cursor:
        cursor.execute(read_file("load.sql"), parameters)
        for kind, row in cursor.fetchall():
            rows[kind].append(row)
    messages = [_make(Message, MESSAGE, row) for row in sorted(rows["message"], key=_get_seq)]
    said = {(message.episode_id, message.seq): message for message in messages}
    found = {row[0]: row for row in rows["fact"]}
    described_rows = {row[0]: row for row in rows["episode"]}
    ranks = count(1 + max((hit.rank for hit in facts), default=0))
    pinned = sorted((row for row in rows["fact"] if row[-2] is not None), key=_get_place)
    return Candidates(
        facts=[
            _to_fact(hit, found[str(hit.memory_id)], said)
            for hit in facts
            if str(hit.memory_id) in found
        ],
        pinned=[_to_fact(_to_hit(row, next(ranks)), row, said) for row in pinned],
        episodes=[
            _to_episode(hit, conversation, described_rows[str(hit.memory_id)], messages)
            for hit in episodes
            if str(hit.memory_id) in described_rows
        ],
        messages={row.seq: row for row in messages if row.content is not None},
        retired=set(rows["retired"]),
    )


def _get_seq(row: list[Any]) -> int:
    return int(row[1])


def _get_place(row: list[Any]) -> int:
    return int(row[-2])


def _make(model: type[Row], names: Sequence[str], values: Sequence[Any]) -> Row:
    """Return a row of which only these fields are known, from their values as JSON has them."""
    fields = dict(zip(names, values, strict=True))
    for name, value in fields.items():
        if value is not None and name.endswith("_at"):
            fields[name] = datetime.fromisoformat(value)
        elif value is not None and name in IDS:
            fields[name] = uuid.UUID(value)
    return model.from_db("default", list(fields), list(fields.values()))


def _to_hit(row: list[Any], rank: int) -> Hit:
    return Hit(memory_id=uuid.UUID(row[0]), shelf=MemoryKind.FACT, rank=rank, score=0.0)


def _to_fact(hit: Hit, row: list[Any], said: Said) -> FactHit:
    *values, _, evidence_rows = row
    evidence = tuple(_make(Evidence, EVIDENCE, values) for values in evidence_rows)
    places = [(row.episode_id, seq) for row in evidence for seq in row.message_seqs]
    return FactHit(
        found=hit,
        fact=_make(Fact, FACT, values),
        sources=len(evidence),
        evidence=evidence,
        messages=tuple(said[place] for place in places if place in said),
    )


def _to_episode(
    hit: Hit, conversation: Conversation, row: list[Any], messages: Sequence[Message]
) -> EpisodeHit:
    episode = _make(Episode, EPISODE, row)
    episode.conversation = conversation
    own = tuple(row for row in messages if row.episode_id == episode.id and row.content is not None)
    return EpisodeHit(found=hit, episode=episode, messages=own)

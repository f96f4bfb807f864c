"""Memories that answer a query, with the rows behind them, loaded by one statement.

A row is values only: hundreds are loaded for an answer, of which a few are served.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.conf import settings

from episodic.models import Correction
from indexing.models import MemoryKind
from memoryproject.text.dates import at_offset
from memoryproject.text.tokens import in_use
from retrieval.scope import Scope
from retrieval.statements import read_file, run, to_array

PINNED_AT_MOST = 10
"""Number of facts that an agent gets without asking: guidelines and dangers."""
LOADED_FIXED = ("whole", "retired", "shared", "of_user")
"""Parameters of `load.sql` that select a prepared plan: one plan per combination of values."""
_parse = datetime.fromisoformat
Place = tuple[str | None, int]
"""A message, by its episode and seq: a seq alone is not unique across conversations."""
Said = Mapping[Place, "MessageRow"]
"""Messages by place."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, and how it was found. Ranks start at 1; None: not in that ranking."""

    memory_id: uuid.UUID
    shelf: MemoryKind
    rank: int
    score: float
    rrf: float = 0.0
    retrievability: float = 1.0
    lexical_rank: int | None = None
    vector_rank: int | None = None
    lexical_found: int = 0
    vector_found: int = 0
    lines: tuple[tuple[int, float], ...] = ()
    """Its matching messages: seq and score, in deviations from the mean, over both rankings."""
    terms: tuple[str, ...] = ()
    """Lexemes of the query in it, if an explanation was asked for."""
    shown: tuple[Any, ...] = ()
    """What markdown prints of it, if that was asked for; see `hybrid.sql`."""
    lexical_score: float | None = None
    """BM25 score of its best unit; None: no word matches."""
    cosine: float | None = None
    """Cosine of its most similar unit; None: none is similar."""
    newer: tuple[uuid.UUID, ...] = ()
    """Other facts found that seem to contradict it and are newer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Hit):
    """A memory found by a search of a whole tenant; its score is the relevance, 0 to 1.

    `rank` is 0 until the final order is known. `at`: its time, which decides recency. `distance` is
    1 minus the cosine, None if the vector search did not find it. `depth`: number of links from
    what the query found, 0 for that itself.
    """

    source_type: str
    importance: float
    combined: float
    at: datetime
    distance: float | None = None
    depth: int = 0


class Row:
    """The values of a row; its id is text, as in JSON."""

    __slots__ = ()
    id: str

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""
        return uuid.UUID(self.id)


@dataclass(slots=True)
class MessageRow(Row):
    """A message from the loading statement. `content` None: it only supports a fact."""

    id: str
    seq: int
    role: str
    name: str
    content: str | None
    said_at: datetime
    """Time of the message, on the speaker's clock."""
    metadata: dict[str, Any]
    quarters: int | None
    """Quarters of a token in the content, by the current counter; None: not counted."""
    episode_id: str | None
    correction: Correction | None = None

    @property
    def place(self) -> Place:
        """Return its episode and seq."""
        return self.episode_id, self.seq


@dataclass(slots=True)
class FactHit(Row):
    """A served fact, its supporting episodes, and the messages that state it, oldest first.

    `sources`: number of those episodes. Plain markdown needs only that and the fact's text; the
    rest is then empty.
    """

    found: Hit
    id: str
    category: str
    fact: str
    valid_at: datetime
    sources: int
    keywords: list[str] = field(default_factory=list)
    is_pinned: bool = False
    invalid_at: datetime | None = None
    conversation_id: uuid.UUID | None = None
    """The agent's own id of its conversation."""
    episode_ids: tuple[str, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    correction: Correction | None = None
    corrected_at: datetime | None = None

    @property
    def true_since(self) -> datetime:
        """Time since which it is true, on the clock of the last person who stated it."""
        return self.valid_at.astimezone(self.messages[-1].said_at.tzinfo if self.messages else UTC)


@dataclass(slots=True)
class EpisodeHit(Row):
    """A served episode, and the messages of it in the answer, oldest first.

    Plain markdown needs only its heading; `details` has the rest, by name.
    """

    found: Hit
    id: str
    title: str
    summary: str
    surprise: float
    end_at: datetime
    details: dict[str, Any] = field(default_factory=dict)
    conversation_id: uuid.UUID | None = None
    """The agent's own id of its conversation."""
    messages: tuple[MessageRow, ...] = ()
    correction: Correction | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The facts and episodes an answer is chosen from, each in the order of the search."""

    facts: list[FactHit]
    pinned: list[FactHit]
    """Pinned facts that the search did not find, newest first, ranked after those it did."""
    episodes: list[EpisodeHit]
    messages: dict[Place, MessageRow]
    """Requested messages and those of whole episodes, with their text, by place."""
    retired: set[Place]
    """Messages that only state facts that are over or wrong."""
    beyond: tuple[str, ...]
    """Episodes left out because their messages exceed the size of an answer."""


def facts_shown(hits: Sequence[Hit]) -> list[FactHit]:
    """Return facts as the search returned them, without a query: enough for markdown."""
    return [
        FactHit(hit, str(hit.memory_id), category, words, _parse(valid_at), sources)
        for hit in hits
        if hit.shown
        for category, words, valid_at, sources in [hit.shown]
    ]


def episodes_shown(hits: Sequence[Hit]) -> list[EpisodeHit]:
    """Return episodes as the search returned them, without messages: enough for markdown."""
    return [
        EpisodeHit(hit, str(hit.memory_id), title, summary, surprise, _parse(end_at))
        for hit in hits
        if hit.shown
        for title, summary, surprise, end_at in [hit.shown]
    ]


def load_candidates(
    scope: Scope,
    facts: Sequence[Hit] = (),
    episodes: Sequence[Hit] = (),
    *,
    with_pinned: bool = False,
    whole: bool = False,
    places: Collection[tuple[uuid.UUID, int]] = (),
    with_retired: bool = False,
) -> Candidates:
    """Load everything the answer may need by one statement; rows erased since are missing.

    `whole`: with all messages of the episodes. `places`: single messages to load, by episode and
    seq; `with_retired`: also which of these state only what is over.
    """
    parameters: dict[str, Any] = {
        "tenant": scope.tenant.id,
        "homes": to_array(map(str, scope.homes)),
        "facts": to_array(str(hit.memory_id) for hit in facts),
        "episodes": to_array(str(hit.memory_id) for hit in episodes),
        "said_in": to_array(str(episode_id) for episode_id, _ in places),
        "seqs": to_array(str(seq) for _, seq in places),
        "pinned": PINNED_AT_MOST if with_pinned else 0,
        "counter": in_use().name,
        "whole": whole,
        "bytes_at_most": settings.PAGE_BYTES,
        "retired": with_retired,
        "shared": scope.is_shared,
        "of_user": bool(scope.user_ids),
    }
    loaded = run(read_file("load.sql"), parameters, fixed=LOADED_FIXED)
    rows = {kind: several or [] for kind, several in loaded}
    return read_candidates(scope, rows, facts, episodes)


def read_candidates(
    scope: Scope, rows: Mapping[str, list[Any]], facts: Sequence[Hit], episodes: Sequence[Hit]
) -> Candidates:
    """Return the hits and pinned facts from the rows of `load.sql`, grouped by kind."""
    keys = [(hit, str(hit.memory_id)) for hit in episodes]
    fact_keys = [(hit, str(hit.memory_id)) for hit in facts]
    messages = [
        MessageRow(
            message_id, seq, role, name, content, at_offset(_parse(at), minutes), data, size, place
        )
        for message_id, seq, role, name, content, at, minutes, data, size, place in rows["message"]
    ]
    said = {message.place: message for message in messages}
    by_id = {row[0]: (*row, []) for row in rows["fact"]}
    for fact_id, *source in rows["evidence"]:
        if fact_id in by_id:
            by_id[fact_id][-1].append(source)
    next_rank = 1 + max((hit.rank for hit in facts), default=0)
    unasked = sorted((row for row in by_id.values() if row[-2] is not None), key=itemgetter(-2))
    home = scope.conversation.external_id if scope.conversation else None
    own: dict[str | None, list[MessageRow]] = defaultdict(list)
    for message in messages:
        if message.content is not None:
            own[message.episode_id].append(message)
    episode_rows = {row[0]: row for row in rows["episode"]}
    return Candidates(
        facts=[_to_fact(hit, by_id[key], said, home) for hit, key in fact_keys if key in by_id],
        pinned=[
            _to_fact(Hit(uuid.UUID(row[0]), MemoryKind.FACT, rank, 0.0), row, said, home)
            for rank, row in enumerate(unasked, start=next_rank)
        ],
        episodes=[
            _to_episode(hit, episode_rows[key], tuple(own[key]), home)
            for hit, key in keys
            if key in episode_rows
        ],
        messages={row.place: row for row in messages if row.content is not None},
        retired={(episode_id, seq) for episode_id, seq in rows["retired"]},
        beyond=tuple(rows["beyond"]),
    )


def _to_fact(hit: Hit, row: Sequence[Any], said: Said, home: uuid.UUID | None) -> FactHit:
    fact_id, category, words, keywords, is_pinned, valid_at, invalid_at, own, _, evidence = row
    over = invalid_at and _parse(invalid_at)
    places = [(episode_id, seq) for episode_id, seqs in evidence for seq in seqs]
    episode_ids = tuple(episode_id for episode_id, _ in evidence)
    messages = tuple(said[place] for place in places if place in said)
    place = home or (own and uuid.UUID(own))
    asked_for = (keywords, is_pinned, over, place, episode_ids, messages)
    return FactHit(hit, fact_id, category, words, _parse(valid_at), len(evidence), *asked_for)


def _to_episode(
    hit: Hit, row: Sequence[Any], messages: tuple[MessageRow, ...], home: uuid.UUID | None
) -> EpisodeHit:
    episode_id, title, summary, surprise, end_at, own, details = row
    values = (episode_id, title, summary, surprise, _parse(end_at), details)
    return EpisodeHit(hit, *values, home or (own and uuid.UUID(own)), messages)

"""Memories that answer a query, with the rows behind them, which one statement loads.

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
"""Facts that an agent gets unasked: guidelines, and what may endanger somebody."""
LOADED_FIXED = ("whole", "retired", "shared", "of_user")
"""The parameters of `load.sql` of which each set of values has a plan of its own."""
_parse = datetime.fromisoformat
Place = tuple[str | None, int]
"""The episode of a message, and its seq: several conversations have the same seqs."""
Said = Mapping[Place, "MessageRow"]
"""Messages by their places."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, with how it got there. Ranks start at 1; None: not in that leg."""

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
    """Messages of it that match: seq, and deviations from the mean message, over both legs."""
    terms: tuple[str, ...] = ()
    """Lexemes of the query that it holds, where an explanation was asked for."""
    shown: tuple[Any, ...] = ()
    """What markdown prints of it, where that was asked for; see `hybrid.sql`."""
    lexical_score: float | None = None
    """BM25 of its best unit; None: its words do not match."""
    cosine: float | None = None
    """Cosine of its unit that is nearest in meaning; None: none is near."""
    newer: tuple[uuid.UUID, ...] = ()
    """Facts that were found too and seem to contradict it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Hit):
    """A memory that answers a search of a whole tenant; its score is the relevance, 0 to 1.

    `rank` is 0 until it is known which of all are shown. `at`: when it was so, by which
    recency goes. `distance` is 1 less the cosine, None where meaning did not find it.
    `depth`: links that lead here from what the query found, 0 where the query found it.
    """

    source_type: str
    importance: float
    combined: float
    at: datetime
    distance: float | None = None
    depth: int = 0


class Row:
    """The values of a row, with its id as JSON has it."""

    __slots__ = ()
    id: str

    @property
    def pk(self) -> uuid.UUID:
        """Return its id."""
        return uuid.UUID(self.id)


@dataclass(slots=True)
class MessageRow(Row):
    """A message as the loading statement brings it. `content` None: it only says a fact."""

    id: str
    seq: int
    role: str
    name: str
    content: str | None
    said_at: datetime
    """Time at which it was said, on the speaker's clock."""
    metadata: dict[str, Any]
    quarters: int | None
    """Quarters of a token in the content, by the counter in use; None: it was not counted."""
    episode_id: str | None
    correction: Correction | None = None

    @property
    def place(self) -> Place:
        """Return its episode and seq."""
        return self.episode_id, self.seq


@dataclass(slots=True)
class FactHit(Row):
    """A served fact, the episodes that support it, and the messages that say it, oldest first.

    `sources`: how many episodes that are. Plain markdown needs no more than that and the
    fact's words; what stands behind it here is then empty.
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
        """Time since which it is true, on the clock of whoever said it last."""
        return self.valid_at.astimezone(self.messages[-1].said_at.tzinfo if self.messages else UTC)


@dataclass(slots=True)
class EpisodeHit(Row):
    """A served episode and those of its messages that the answer holds, oldest first.

    Plain markdown needs its heading alone; `details` has the rest, by name.
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
    """What an answer is chosen from, facts and episodes each in the order of the search."""

    facts: list[FactHit]
    pinned: list[FactHit]
    """Facts that the search did not find, newest first, ranked behind those that it did."""
    episodes: list[EpisodeHit]
    messages: dict[Place, MessageRow]
    """Messages asked for and those of whole episodes, with what they say, by place."""
    retired: set[Place]
    """Messages that say what is over or wrong, and nothing that is still active."""
    beyond: tuple[str, ...]
    """Episodes that are left out, as their messages come to more than an answer may hold."""


def facts_shown(hits: Sequence[Hit]) -> list[FactHit]:
    """Return facts as the search brought them, without a query: fit for markdown."""
    return [
        FactHit(hit, str(hit.memory_id), category, words, _parse(valid_at), sources)
        for hit in hits
        if hit.shown
        for category, words, valid_at, sources in [hit.shown]
    ]


def episodes_shown(hits: Sequence[Hit]) -> list[EpisodeHit]:
    """Return episodes as the search brought them, without messages: fit for markdown."""
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
    """Load what the answer may need, in one statement; what was erased meanwhile is missing.

    Of the episodes also all messages (`whole`). `places`: single messages of theirs that are
    wanted, by episode and seq; `with_retired`: and which of these are over.
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
    """Return what the rows of `load.sql`, by their kind, hold of hits, and the pinned facts."""
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

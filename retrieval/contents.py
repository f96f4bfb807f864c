"""A memory of any kind by its id: what it is called, what is known about it, all it says."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from indexing.models import Memory, MemoryKind
from memoryproject.errors import NotFound
from memoryproject.fields import say_moment
from memoryproject.tenancy.models import Tenant
from notes import queries as note_queries
from notes.models import Note
from notes.wording import LABEL_AT_MOST, shorten
from retrieval import loading, markdown
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact


@dataclass(frozen=True, slots=True)
class Span:
    """Where in a stored text of the agent's something stands; the last byte is excluded."""

    span_id: str
    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class Content:
    """A memory and its whole text.

    `source_type` is a note's own, else `episode` or `fact`; `source_id` a note's own, else
    the agent's id of the conversation.
    """

    memory_id: uuid.UUID
    kind: MemoryKind
    source_type: str
    source_id: str
    label: str
    description: str
    metadata: dict[str, Any]
    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """What evidence names: messages by episode and seq, and episodes of which all counts."""

    messages: Mapping[tuple[uuid.UUID | None, int], Message]
    episodes: Mapping[uuid.UUID, Episode]


def load_content(*, tenant: Tenant, memory_id: uuid.UUID) -> Content:
    """Return a memory with its text, also a fact that is over: six queries at most.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
    """
    content = load_contents(tenant=tenant, memory_ids=[memory_id]).get(memory_id)
    if content is None:
        raise NotFound("There is no such memory.")
    return content


def load_contents(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Content]:
    """Return memories with their texts by id, also facts that are over: nine queries at most.

    Left out are notes that were deleted, and ids that the tenant does not have.
    """
    wanted: dict[str, list[uuid.UUID]] = {kind: [] for kind in MemoryKind.values}
    for memory in Memory.objects.of(tenant).filter(id__in=list(memory_ids)):
        wanted[memory.kind].append(memory.id)
    found = [
        *_load_facts(tenant, wanted[MemoryKind.FACT]),
        *_load_episodes(tenant, wanted[MemoryKind.EPISODE]),
        *_load_notes(tenant, wanted[MemoryKind.NOTE]),
    ]
    return {content.memory_id: content for content in found}


def _load_notes(tenant: Tenant, ids: Sequence[uuid.UUID]) -> list[Content]:
    notes = note_queries.notes_by_id(tenant=tenant, note_ids=ids) if ids else {}
    return [_of_note(note) for note in notes.values()]


def _load_episodes(tenant: Tenant, ids: Sequence[uuid.UUID]) -> list[Content]:
    if not ids:
        return []
    said = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=ids)
    episodes = Episode.objects.of(tenant).filter(id__in=ids, withheld_by=None)
    rows = episodes.select_related("conversation")
    return [_of_episode(episode, said[episode.id]) for episode in rows]


def _load_facts(tenant: Tenant, ids: Sequence[uuid.UUID]) -> list[Content]:
    if not ids:
        return []
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=ids)
    cited = _load_cited(tenant, evidence)
    facts = Fact.objects.of(tenant).exclude(invalidated_because=Fact.Because.WAITING)
    rows = facts.filter(id__in=ids).select_related("conversation")
    return [_of_fact(fact, evidence[fact.id], cited) for fact in rows]


def _of_note(note: Note) -> Content:
    span = None
    if note.start_byte is not None and note.end_byte is not None:
        span = Span(note.span_id, note.start_byte, note.end_byte)
    return Content(
        memory_id=note.id,
        kind=MemoryKind.NOTE,
        source_type=note.source_type,
        source_id=note.source_id,
        label=note.label,
        description=note.description,
        metadata=note.metadata,
        text=note.content,
        span=span,
    )


def _of_episode(episode: Episode, said: Sequence[Message]) -> Content:
    external_id = str(episode.conversation.external_id)
    return Content(
        memory_id=episode.id,
        kind=MemoryKind.EPISODE,
        source_type=MemoryKind.EPISODE.value,
        source_id=external_id,
        label=episode.title,
        description=episode.summary,
        metadata={
            "conversation_id": external_id,
            "first_seq": episode.first_seq,
            "last_seq": episode.last_seq,
            "message_count": len(said),
            "start_at": say_moment(episode.start_at),
            "end_at": say_moment(episode.end_at),
            "surprise": episode.surprise,
        },
        text="\n".join([episode.title, episode.summary, "", *_quote(said)]),
    )


def _of_fact(fact: Fact, evidence: Sequence[Evidence], cited: Cited) -> Content:
    external_id = str(fact.conversation.external_id)
    return Content(
        memory_id=fact.id,
        kind=MemoryKind.FACT,
        source_type=MemoryKind.FACT.value,
        source_id=external_id,
        label=shorten(fact.fact, LABEL_AT_MOST),
        description=_say_standing(fact),
        metadata={
            "conversation_id": external_id,
            "category": fact.category,
            "keywords": fact.keywords,
            "valid_at": say_moment(fact.valid_at),
            "valid_until": say_moment(fact.valid_until) if fact.valid_until else None,
            "invalid_at": say_moment(fact.invalid_at) if fact.invalid_at else None,
            "invalidated_because": fact.invalidated_because or None,
            "sources": len(evidence),
        },
        text="\n".join([fact.fact, _say_standing(fact), *_cite(evidence, cited)]),
    )


def _say_standing(fact: Fact) -> str:
    """Return what kind of fact it is, and when it was and is held true, in a line."""
    until = f" until {markdown.say_day(fact.valid_until)}" if fact.valid_until else ""
    parts = [f"{fact.category}, true from {markdown.say_day(fact.valid_at)}{until}"]
    if fact.invalid_at is not None:
        why = fact.Because(fact.invalidated_because).label
        parts.append(f"no longer held since {markdown.say_day(fact.invalid_at)}: {why}")
    return f"({'; '.join(parts)})"


def _load_cited(tenant: Tenant, evidence: Mapping[uuid.UUID, Sequence[Evidence]]) -> Cited:
    rows = [row for several in evidence.values() for row in several]
    whole = [row.episode_id for row in rows if not row.message_seqs]
    return Cited(
        messages=loading.load_sources(tenant, rows) if rows else {},
        episodes=Episode.objects.of(tenant).filter(withheld_by=None).in_bulk(whole)
        if whole
        else {},
    )


def _cite(evidence: Sequence[Evidence], cited: Cited) -> list[str]:
    """Return the messages that say a fact, or the titles of episodes of which all counts."""
    if not evidence:
        return []
    named = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
    messages = [cited.messages[place] for place in named if place in cited.messages]
    said = sorted(messages, key=lambda message: (message.occurred_at, message.seq))
    whole = {row.episode_id for row in evidence if not row.message_seqs}
    episodes = [cited.episodes[episode_id] for episode_id in whole if episode_id in cited.episodes]
    titles = [
        f"- {markdown.say_day(episode.end_at)} {markdown.one_line(episode.title)}"
        for episode in sorted(episodes, key=lambda episode: (episode.end_at, episode.id))
    ]
    return ["", "Sources:", *titles, *_quote(said)]


def _quote(messages: Sequence[Message]) -> list[str]:
    return [markdown.render_message(message, with_day=True) for message in messages]

"""One memory, of any kind, with its whole text; and how memories are loaded."""

import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models.functions import Left

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from indexing.models import MemoryKind
from memoryproject.database.token_sizes import stored_quarters
from memoryproject.edge.errors import NotFound
from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import clean_block
from memoryproject.text.tokens import count_quarters, in_use
from notes import queries as note_queries
from notes.models import Note
from notes.wording import LABEL_AT_MOST, shorten
from retrieval.citations import cite, measure_unloaded, quote
from retrieval.markdown import mark
from semantic import queries as semantic_queries
from semantic.correction_marks import find_corrections, set_corrections
from semantic.models import Fact

BEGINNING = 1_000
"""Characters of a note that an outline has."""
FACT_IMPORTANCE = 0.5
EPISODIC = "episodic"
"""The category that every episode has in searches of the whole tenant."""
A_FURTHER_EPISODE = 0.1
"""What each episode that supports a fact adds to that, beside the first; up to four do."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory with its whole text. What its kind does not have is empty or None.

    `importance` is 0 to 1: a note's own, an episode's surprise; of a fact 0.5, and more the
    more episodes support it. `at` is when it was so: when a note says, when a fact became
    true, when an episode ended.
    """

    id: uuid.UUID
    kind: MemoryKind
    source_type: str
    """Of a note its own, else the kind."""
    label: str
    content: str
    """To the letter: of a fact its sentence, of an episode title, summary and messages."""
    importance: float
    at: datetime
    created_at: datetime
    source_id: str = ""
    """Of a note its own, else the agent's id of the conversation."""
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    citation: str | None = None
    """The content with its messages quoted, under day and speaker; None: none to quote."""
    span: dict[str, Any] | None = None
    """Where in a stored text of the agent's a note stands; the last byte is excluded."""
    conversation: uuid.UUID | None = None
    """The agent's id of it."""
    user_id: str = ""
    """Whom a note is about; else whose its conversation is."""
    category: str = ""
    emotion_type: str = ""
    emotion_intensity: float | None = None
    emotion_valence: str = ""
    tags: tuple[str, ...] = ()
    correction: str = ""
    """What answers say of it where it contradicts a correction."""
    marked: str = ""
    """The content with corrections beside what contradicts them; empty: nothing does."""
    unloaded_quarters: int = 0
    """Quarters of a token of what a prompt would show too and was not loaded."""
    links: tuple[tuple[str, uuid.UUID], ...] = ()
    """Type and target of those stored from it: pages of the mirror alone hold them."""

    @property
    def quotation(self) -> str:
        """Return what a prompt shows of it: the content, its messages quoted and dated."""
        return (self.marked or self.content) if self.citation is None else self.citation

    @property
    def token_estimate(self) -> int:
        """Return the size of all that a prompt would show of it, by the counter in use."""
        loaded = count_quarters(clean_block(self.quotation))
        return math.ceil((loaded + self.unloaded_quarters) / 4)


def load_memory(*, tenant: Tenant, memory_id: uuid.UUID, outline: bool = False) -> Memory:
    """Return a memory, also a fact that is retired, or its outline.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
    """
    load = load_outlines if outline else load_memories
    memory = load(tenant=tenant, memory_ids=[memory_id]).get(memory_id)
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def load_memories(
    *, tenant: Tenant, memory_ids: Iterable[uuid.UUID], active_only: bool = False
) -> dict[uuid.UUID, Memory]:
    """Return memories by id: seven queries at most, however many.

    Left out are deleted notes, quarantined episodes, facts that wait for approval, and ids
    that the tenant does not have. With `active_only` retired facts too, and there are no
    citations: the messages that say a fact are not loaded.
    """
    notes = note_queries.active_notes(tenant=tenant).filter(id__in=(ids := list(memory_ids)))
    memories = _mark_notes(tenant, notes.select_related("conversation"), _of_note)
    return _load(tenant, ids, memories, active_only=active_only)


def load_outlines(*, tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Memory]:
    """Return the same, but without what messages say, and of notes only how they begin.

    However long the texts are, little is read; `unloaded_quarters` has the size of the rest.
    """
    notes = note_queries.active_notes(tenant=tenant).filter(id__in=(ids := list(memory_ids)))
    outlines = notes.select_related("conversation").defer("content")
    sized = outlines.annotate(
        beginning=Left("content", BEGINNING), quarters=stored_quarters(in_use().name)
    )
    return _load(tenant, ids, _mark_notes(tenant, sized, _outline_note), with_content=False)


def _mark_notes(
    tenant: Tenant, notes: Iterable[Note], make: Callable[[Note], Memory]
) -> Iterator[Memory]:
    """Yield the memories of notes, with the corrections that they contradict."""
    rows = list(notes)
    ids = [row.id for row in rows if row.conversation and row.conversation.has_corrections]
    corrections = find_corrections(tenant=tenant, place_ids=ids) if ids else {}
    for memory in map(make, rows):
        found = corrections.get(memory.id)
        if found is None:
            yield memory
        else:
            marked = f"{memory.content} [{found.text}]"
            yield replace(memory, correction=found.text, marked=marked)


def _load(
    tenant: Tenant, ids: Sequence[uuid.UUID], notes: Iterable[Memory], **options: bool
) -> dict[uuid.UUID, Memory]:
    facts = _load_facts(tenant, ids, **options)
    episodes = _load_episodes(tenant, ids, **options)
    return {memory.id: memory for memory in [*facts, *notes, *episodes]}


def _load_episodes(
    tenant: Tenant,
    ids: Sequence[uuid.UUID],
    *,
    active_only: bool = False,
    with_content: bool = True,
) -> Iterator[Memory]:
    rows = episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids)
    episodes = list(rows.select_related("conversation"))
    messages = episodic_queries.messages_of_episodes(
        tenant=tenant,
        episode_ids=[episode.id for episode in episodes],
        with_content=with_content,
    )
    if any(episode.conversation.has_corrections for episode in episodes):
        set_corrections(tenant, [*episodes, *chain.from_iterable(messages.values())])
    for episode in episodes:
        yield _of_episode(episode, messages[episode.id], active_only)


def _load_facts(
    tenant: Tenant,
    ids: Sequence[uuid.UUID],
    *,
    active_only: bool = False,
    with_content: bool = True,
) -> Iterator[Memory]:
    rows = semantic_queries.facts_by_id(tenant=tenant, fact_ids=ids)
    rows = rows.exclude(invalidated_because=Fact.Because.WAITING).select_related("conversation")
    facts = list(rows.filter(invalid_at=None) if active_only else rows)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=[fact.id for fact in facts])
    is_corrected = any(fact.conversation.has_corrections for fact in facts)
    if is_corrected:
        set_corrections(tenant, facts)
    sources = (
        {}
        if active_only
        else cite(tenant, evidence, with_content=with_content, is_corrected=is_corrected)
    )
    for fact in facts:
        lines, unloaded = sources.get(fact.id, ([], 0))
        memory = _of_fact(fact, len(evidence.get(fact.id, ())), lines, active_only)
        yield replace(memory, unloaded_quarters=unloaded)


def _outline_note(note: Note) -> Memory:
    note.content = note.beginning  # type: ignore[attr-defined]
    unloaded = note.quarters  # type: ignore[attr-defined]
    return replace(_of_note(note), citation="", unloaded_quarters=unloaded)


def _of_note(note: Note) -> Memory:
    span = None
    if note.start_byte is not None and note.end_byte is not None:
        span = {name: getattr(note, name) for name in ("span_id", "start_byte", "end_byte")}
    return Memory(
        id=note.id,
        kind=MemoryKind.NOTE,
        source_type=note.source_type,
        source_id=note.source_id,
        label=note.label,
        description=note.description,
        metadata=note.metadata,
        content=note.content,
        span=span,
        importance=note.importance,
        at=note.occurred_at,
        created_at=note.created_at,
        conversation=note.conversation.external_id if note.conversation else None,
        user_id=note.user_id or (note.conversation.user_id if note.conversation else ""),
        category=note.category,
        emotion_type=note.emotion_type,
        emotion_intensity=note.emotion_intensity,
        emotion_valence=note.emotion_valence,
        tags=tuple(note.tags),
    )


def _of_episode(episode: Episode, messages: Sequence[Message], active_only: bool) -> Memory:
    head = [episode.title, episode.summary, ""]
    marked_head = [episode.title, episode.summary + mark(episode), ""]
    lines = [f"{message.name or message.role}: {message.content}" for message in messages]
    marked = [line + mark(message) for line, message in zip(lines, messages, strict=True)]
    external_id = episode.conversation.external_id
    return Memory(
        id=episode.id,
        kind=MemoryKind.EPISODE,
        source_type=MemoryKind.EPISODE.value,
        source_id=str(external_id),
        label=episode.title,
        description=episode.summary,
        metadata={
            "conversation_id": str(external_id),
            "first_seq": episode.first_seq,
            "last_seq": episode.last_seq,
            "message_count": len(messages),
            "start_at": say_moment(episode.start_at),
            "end_at": say_moment(episode.end_at),
            "surprise": episode.surprise,
        },
        content="\n".join([*head, *lines]),
        correction=episode.correction,
        marked="\n".join([*marked_head, *marked]),
        citation=None if active_only else "\n".join([*marked_head, *quote(messages)]),
        unloaded_quarters=measure_unloaded(messages),
        importance=episode.surprise,
        at=episode.end_at,
        created_at=episode.created_at,
        conversation=external_id,
        user_id=episode.conversation.user_id,
        category=EPISODIC,
    )


def _of_fact(fact: Fact, episodes: int, sources: Sequence[str], active_only: bool) -> Memory:
    external_id = fact.conversation.external_id
    standing = _render_standing(fact)
    return Memory(
        id=fact.id,
        kind=MemoryKind.FACT,
        source_type=MemoryKind.FACT.value,
        source_id=str(external_id),
        label=shorten(fact.fact, LABEL_AT_MOST),
        description=standing,
        metadata={
            "conversation_id": str(external_id),
            "category": fact.category,
            "keywords": fact.keywords,
            "valid_at": say_moment(fact.valid_at),
            "valid_until": say_moment(fact.valid_until) if fact.valid_until else None,
            "invalid_at": say_moment(fact.invalid_at) if fact.invalid_at else None,
            "invalidated_because": fact.invalidated_because or None,
            "sources": episodes,
        },
        content=fact.fact,
        correction=fact.correction,
        marked=fact.fact + mark(fact),
        citation=None if active_only else "\n".join([fact.fact + mark(fact), standing, *sources]),
        importance=FACT_IMPORTANCE + A_FURTHER_EPISODE * min(max(episodes - 1, 0), 4),
        at=fact.valid_at,
        created_at=fact.created_at,
        conversation=external_id,
        user_id=fact.conversation.user_id,
        category=fact.category,
        tags=tuple(fact.keywords),
    )


def _render_standing(fact: Fact) -> str:
    """Return what kind of fact it is, and when it was true and believed, in a line."""
    until = f" until {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    parts = [f"{fact.category}, true from {fact.valid_at:%Y-%m-%d}{until}"]
    if fact.invalid_at is not None:
        why = fact.Because(fact.invalidated_because).label
        parts.append(f"retired {fact.invalid_at:%Y-%m-%d}: {why}")
    return f"({'; '.join(parts)})"

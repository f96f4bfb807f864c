"""One memory, of any kind, with its whole text; and how memories are loaded."""

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models.functions import Left

from episodic import queries as episodic_queries
from episodic.models import Correctable, Episode, Message
from indexing.models import MemoryKind
from memoryproject.database.token_sizes import stored_quarters
from memoryproject.edge.errors import NotFound
from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, clean_alone, clean_block, clean_line
from memoryproject.text.parts import join
from memoryproject.text.tokens import count_quarters, in_use
from notes import queries as note_queries
from notes.models import Note
from notes.wording import LABEL_AT_MOST, shorten
from retrieval.markdown import render_message
from semantic import queries as semantic_queries
from semantic.correction_marks import find_corrections, set_corrections
from semantic.models import Evidence, Fact

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
    style: str = DEFANGED
    """How answers print addresses in its texts."""

    @property
    def quotation(self) -> str:
        """Return what a prompt shows of it: the content, its messages quoted and dated."""
        return (self.marked or self.content) if self.citation is None else self.citation

    @property
    def clean_label(self) -> str:
        """Return the label as an answer prints it."""
        return clean_alone(self.label, self.style)

    @property
    def clean_description(self) -> str:
        """Return the description as an answer prints it."""
        return clean_block(self.description, self.style)

    @property
    def token_estimate(self) -> int:
        """Return the size of all that a prompt would show of it, by the counter in use."""
        loaded = count_quarters(clean_block(self.quotation, self.style))
        return math.ceil((loaded + self.unloaded_quarters) / 4)


def load_memory(
    *, tenant: Tenant, memory_id: uuid.UUID, outline: bool = False, style: str = DEFANGED
) -> Memory:
    """Return a memory, also a fact that is retired, or its outline.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
    """
    memories = load_memories(tenant=tenant, memory_ids=[memory_id], outline=outline, style=style)
    if memory_id not in memories:
        raise NotFound("There is no such memory.")
    return memories[memory_id]


def load_memories(
    *,
    tenant: Tenant,
    memory_ids: Iterable[uuid.UUID],
    active_only: bool = False,
    outline: bool = False,
    style: str = DEFANGED,
) -> dict[uuid.UUID, Memory]:
    """Return memories by id: seven queries at most, however many.

    Left out are deleted notes, quarantined episodes, facts that wait for approval, and ids
    that the tenant does not have. With `active_only` retired facts too, and there are no
    citations: the messages that say a fact are not loaded. With `outline` nothing that messages
    say is, and of notes only how they begin: however long the texts are, little is read;
    `unloaded_quarters` has the size of the rest. `style`: how links are printed.
    """
    ids = list(memory_ids)
    facts = _load_facts(tenant, ids, active_only, outline, style)
    notes = _load_notes(tenant, ids, outline, style)
    episodes = _load_episodes(tenant, ids, active_only, outline, style)
    memories = chain(facts, notes, episodes)
    return {memory.id: replace(memory, style=style) for memory in memories}


def _load_notes(
    tenant: Tenant, ids: Sequence[uuid.UUID], outline: bool, style: str
) -> Iterator[Memory]:
    notes = note_queries.active_notes(tenant=tenant).filter(id__in=ids)
    notes = notes.select_related("conversation")
    if outline:
        sizes = {"quarters": stored_quarters(in_use().name)}
        notes = notes.defer("content").annotate(beginning=Left("content", BEGINNING), **sizes)
    rows = list(notes)
    places = [row.id for row in rows if row.conversation and row.conversation.has_corrections]
    corrections = find_corrections(tenant=tenant, place_ids=places) if places else {}
    for row in rows:
        memory = _outline_note(row) if outline else _of_note(row)
        if (found := corrections.get(row.id)) is not None:
            correction = join(found.render(style))
            marked = f"{memory.content} [{correction}]"
            memory = replace(memory, correction=correction, marked=marked)
        yield memory


def _load_episodes(
    tenant: Tenant, ids: Sequence[uuid.UUID], active_only: bool, outline: bool, style: str
) -> Iterator[Memory]:
    rows = episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids)
    episodes = list(rows.select_related("conversation"))
    messages = episodic_queries.messages_of_episodes(
        tenant=tenant,
        episode_ids=[episode.id for episode in episodes],
        with_content=not outline,
    )
    if any(episode.conversation.has_corrections for episode in episodes):
        set_corrections(tenant, [*episodes, *chain.from_iterable(messages.values())])
    for episode in episodes:
        yield _of_episode(episode, messages[episode.id], active_only, style)


def _load_facts(
    tenant: Tenant, ids: Sequence[uuid.UUID], active_only: bool, outline: bool, style: str
) -> Iterator[Memory]:
    rows = semantic_queries.facts_by_id(tenant=tenant, fact_ids=ids)
    rows = rows.exclude(invalidated_because=Fact.Because.WAITING).select_related("conversation")
    facts = list(rows.filter(invalid_at=None) if active_only else rows)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=[fact.id for fact in facts])
    is_corrected = any(fact.conversation.has_corrections for fact in facts)
    if is_corrected:
        set_corrections(tenant, facts)
    cited = {} if active_only else evidence
    sources = _cite(tenant, cited, with_content=not outline, is_corrected=is_corrected, style=style)
    for fact in facts:
        lines, unloaded = sources.get(fact.id, ([], 0))
        memory = _of_fact(fact, len(evidence.get(fact.id, ())), lines, active_only, style)
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


def _of_episode(
    episode: Episode, messages: Sequence[Message], active_only: bool, style: str
) -> Memory:
    head = [episode.title, episode.summary, ""]
    marked_head = [episode.title, episode.summary + _mark(episode, style), ""]
    lines = [f"{message.name or message.role}: {message.content}" for message in messages]
    marked = [line + _mark(message, style) for line, message in zip(lines, messages, strict=True)]
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
        correction=_correction(episode, style),
        marked="\n".join([*marked_head, *marked]),
        citation=None if active_only else "\n".join([*marked_head, *_quote(messages, style)]),
        unloaded_quarters=_measure_unloaded(messages),
        importance=episode.surprise,
        at=episode.end_at,
        created_at=episode.created_at,
        conversation=external_id,
        user_id=episode.conversation.user_id,
        category=EPISODIC,
    )


def _of_fact(
    fact: Fact, episodes: int, sources: Sequence[str], active_only: bool, style: str
) -> Memory:
    external_id = fact.conversation.external_id
    standing, marked = _render_standing(fact), fact.fact + _mark(fact, style)
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
        correction=_correction(fact, style),
        marked=marked,
        citation=None if active_only else "\n".join([marked, standing, *sources]),
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


def _cite(
    tenant: Tenant,
    evidence: Mapping[uuid.UUID, Sequence[Evidence]],
    *,
    with_content: bool,
    is_corrected: bool,
    style: str,
) -> dict[uuid.UUID, tuple[list[str], int]]:
    """Return by fact the messages that say it, or the titles of episodes of which all counts.

    And the quarters of a token of what was not loaded. `is_corrected`: some may be marked.
    """
    rows = [row for several in evidence.values() for row in several]
    messages = _load_sources(tenant, rows, with_content=with_content)
    if is_corrected:
        set_corrections(tenant, list(messages.values()))
    whole = [row.episode_id for row in rows if not row.message_seqs]
    episodes = episodic_queries.episodes_with_state(tenant=tenant, episode_ids=whole).in_bulk()
    sources = {}
    for fact_id, several in evidence.items():
        places = {(row.episode_id, seq) for row in several for seq in row.message_seqs}
        quoted = [messages[place] for place in places if place in messages]
        titled_ids = {row.episode_id for row in several if not row.message_seqs}
        titled = [episodes[episode_id] for episode_id in titled_ids if episode_id in episodes]
        titles = [
            f"- {episode.end_at:%Y-%m-%d} {clean_line(episode.title, style)}"
            for episode in sorted(titled, key=lambda episode: (episode.end_at, episode.id))
        ]
        in_order = sorted(quoted, key=lambda message: (message.occurred_at, message.seq))
        lines = _quote(in_order, style)
        sources[fact_id] = ["", "Sources:", *titles, *lines], _measure_unloaded(quoted)
    return sources


def _load_sources(
    tenant: Tenant, evidence: Iterable[Evidence], *, with_content: bool
) -> dict[tuple[uuid.UUID | None, int], Message]:
    """Return the messages that evidence names, by episode and seq, in one query."""
    seqs = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
    messages = Message.objects.of(tenant).filter(
        episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
    )
    rows = messages if with_content else episodic_queries.without_content(messages)
    return {(message.episode_id, message.seq): message for message in rows}


def _measure_unloaded(messages: Iterable[Message]) -> int:
    """Return the quarters of a token of what messages say, of those without their content."""
    return sum(getattr(message, "quarters", 0) for message in messages)


def _quote(messages: Sequence[Message], style: str) -> list[str]:
    """Return messages as lines with day and speaker, in the same order."""
    return [join(render_message(row, style, with_day=True)[:-1]) for row in messages]


def _mark(row: Correctable, style: str) -> str:
    """Return what stands behind a text that contradicts a correction; else nothing."""
    return f" [{_correction(row, style)}]" if row.correction else ""


def _correction(row: Correctable, style: str) -> str:
    return join(row.correction.render(style)) if row.correction else ""

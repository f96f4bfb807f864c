"""One memory of any kind with its whole text, and how memories are loaded."""

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from episodic import queries as episodic_queries
from episodic.models import Correctable, Correction, Episode, Message
from indexing.models import MemoryKind
from memoryproject.edge.errors import NotFound
from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, clean_alone, clean_block, clean_line
from memoryproject.text.parts import join
from memoryproject.text.sentences import shorten
from memoryproject.text.tokens import count_quarters
from memoryproject.wings import list_wings
from retrieval.corrections import set_corrections
from retrieval.markdown import render_message
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact

LABEL_AT_MOST = 80
"""Characters of a fact that its label shows."""
FACT_IMPORTANCE = 0.5
EPISODIC = "episodic"
"""The category of every episode in searches of a whole tenant."""
A_FURTHER_EPISODE = 0.1
"""Importance that each further supporting episode adds to a fact, up to four."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory with its whole text. Fields that its kind lacks are empty or None.

    `importance` is 0 to 1: a note's own, an episode's surprise; a fact has 0.5, and more with
    further supporting episodes. `at`: the time that a note names, when a fact became true, or when
    an episode ended.
    """

    id: uuid.UUID
    kind: MemoryKind
    source_type: str
    """The source type of a note; for others, the kind."""
    label: str
    content: str
    """The exact text: a fact's sentence, or an episode's title, summary and messages."""
    importance: float
    at: datetime
    created_at: datetime
    source_id: str = ""
    """The source id of a note; for others, the agent's id of the conversation."""
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    citation: str | None = None
    """The content with day and speaker of each quoted message; None: nothing to quote."""
    span: dict[str, Any] | None = None
    """Byte range of the stored text from which a note was made; the end is excluded."""
    conversation: uuid.UUID | None = None
    """The agent's id of the conversation."""
    user_id: str = ""
    """The user that a note is about; otherwise the conversation's user."""
    category: str = ""
    emotion_type: str = ""
    emotion_intensity: float | None = None
    emotion_valence: str = ""
    tags: tuple[str, ...] = ()
    correction: str = ""
    """Sentence that answers add if it contradicts a correction."""
    marked: str = ""
    """The content with corrections beside what contradicts them; empty if nothing does."""
    unloaded_quarters: int = 0
    """Quarters of a token of text that a prompt would show and that was not loaded."""
    links: tuple[tuple[str, uuid.UUID], ...] = ()
    """Type and target of its stored links; only pages of the mirror have them."""
    style: str = DEFANGED
    """How answers print links in its texts."""

    @property
    def quotation(self) -> str:
        """Return its text for a prompt: the content, with quoted messages dated."""
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
        """Return the size of everything a prompt would show of it, by the current counter."""
        loaded = count_quarters(clean_block(self.quotation, self.style))
        return math.ceil((loaded + self.unloaded_quarters) / 4)


def load_memory(
    *, tenant: Tenant, memory_id: uuid.UUID, outline: bool = False, style: str = DEFANGED
) -> Memory:
    """Return a memory, even a retired fact, or its outline.

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

    Deleted notes, quarantined episodes, facts pending review and unknown ids are left out.
    `active_only` also leaves out retired facts, and citations: the messages behind a fact are not
    loaded. `outline` loads no text of messages and only the beginning of notes, so that little is
    read; `unloaded_quarters` has the size of the rest. `style`: how links are printed.
    """
    loader = Loader(tenant, list(memory_ids), active_only, outline, style)
    others = (wing.load_memories(loader) for wing in list_wings())
    memories = chain(loader.load_facts(), *others, loader.load_episodes())
    return {memory.id: memory for memory in memories}


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads memories of each kind; the fields are what `load_memories` takes."""

    tenant: Tenant
    ids: Sequence[uuid.UUID]
    active_only: bool
    outline: bool
    style: str = DEFANGED

    def load_episodes(self) -> Iterator[Memory]:
        rows = episodic_queries.episodes_with_state(tenant=self.tenant, episode_ids=self.ids)
        episodes = list(rows.select_related("conversation"))
        messages = episodic_queries.messages_of_episodes(
            tenant=self.tenant,
            episode_ids=[episode.id for episode in episodes],
            with_content=not self.outline,
        )
        if any(episode.conversation.has_corrections for episode in episodes):
            set_corrections(self.tenant, [*episodes, *chain.from_iterable(messages.values())])
        for episode in episodes:
            yield self._to_episode(episode, messages[episode.id])

    def load_facts(self) -> Iterator[Memory]:
        rows = semantic_queries.facts_by_id(tenant=self.tenant, fact_ids=self.ids)
        rows = rows.exclude(invalidated_because__in=Fact.HIDDEN).select_related("conversation")
        facts = list(rows.filter(invalid_at=None) if self.active_only else rows)
        ids = [fact.id for fact in facts]
        evidence = semantic_queries.evidence_of(tenant=self.tenant, fact_ids=ids)
        is_corrected = any(fact.conversation.has_corrections for fact in facts)
        if is_corrected:
            set_corrections(self.tenant, facts)
        cited = {} if self.active_only else evidence
        sources = self._cite(cited, is_corrected=is_corrected)
        for fact in facts:
            lines, unloaded = sources.get(fact.id, ([], 0))
            memory = self._to_fact(fact, len(evidence.get(fact.id, ())), lines)
            yield replace(memory, unloaded_quarters=unloaded)

    def _to_episode(self, episode: Episode, messages: Sequence[Message]) -> Memory:
        head = [episode.title, episode.summary, ""]
        marked_head = [episode.title, episode.summary + self._mark(episode), ""]
        lines = [f"{message.name or message.role}: {message.content}" for message in messages]
        marked = [line + self._mark(message) for line, message in zip(lines, messages, strict=True)]
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
            correction=self.say(episode.correction),
            marked="\n".join([*marked_head, *marked]),
            citation=None
            if self.active_only
            else "\n".join([*marked_head, *self._quote(messages)]),
            unloaded_quarters=_measure_unloaded(messages),
            importance=episode.surprise,
            at=episode.end_at,
            created_at=episode.created_at,
            conversation=external_id,
            style=self.style,
            user_id=episode.conversation.user_id,
            category=EPISODIC,
        )

    def _to_fact(self, fact: Fact, episodes: int, sources: Sequence[str]) -> Memory:
        external_id = fact.conversation.external_id
        standing, marked = _render_standing(fact), fact.fact + self._mark(fact)
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
            correction=self.say(fact.correction),
            marked=marked,
            citation=None if self.active_only else "\n".join([marked, standing, *sources]),
            importance=FACT_IMPORTANCE + A_FURTHER_EPISODE * min(max(episodes - 1, 0), 4),
            at=fact.valid_at,
            created_at=fact.created_at,
            conversation=external_id,
            style=self.style,
            user_id=fact.conversation.user_id,
            category=fact.category,
            tags=tuple(fact.keywords),
        )

    def _cite(
        self, evidence: Mapping[uuid.UUID, Sequence[Evidence]], *, is_corrected: bool
    ) -> dict[uuid.UUID, tuple[list[str], int]]:
        """Return for each fact its messages, or the titles of episodes that support it as a whole.

        Also return the unloaded quarters of a token. `is_corrected`: some may have marks.
        """
        rows = [row for several in evidence.values() for row in several]
        messages = self._load_sources(rows)
        if is_corrected:
            set_corrections(self.tenant, list(messages.values()))
        whole = [row.episode_id for row in rows if not row.message_seqs]
        episodes = episodic_queries.episodes_with_state(
            tenant=self.tenant, episode_ids=whole
        ).in_bulk()
        sources = {}
        for fact_id, several in evidence.items():
            places = {(row.episode_id, seq) for row in several for seq in row.message_seqs}
            quoted = [messages[place] for place in places if place in messages]
            titled_ids = {row.episode_id for row in several if not row.message_seqs}
            titled = [episodes[episode_id] for episode_id in titled_ids if episode_id in episodes]
            titles = [
                f"- {episode.end_at:%Y-%m-%d} {clean_line(episode.title, self.style)}"
                for episode in sorted(titled, key=lambda episode: (episode.end_at, episode.id))
            ]
            in_order = sorted(quoted, key=lambda message: (message.said_at, message.seq))
            lines = self._quote(in_order)
            sources[fact_id] = ["", "Sources:", *titles, *lines], _measure_unloaded(quoted)
        return sources

    def _load_sources(
        self, evidence: Iterable[Evidence]
    ) -> dict[tuple[uuid.UUID | None, int], Message]:
        """Return the messages that evidence names, by episode and seq, by one query."""
        seqs = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
        messages = Message.objects.of(self.tenant).filter(
            episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
        )
        rows = episodic_queries.without_content(messages) if self.outline else messages
        return {(message.episode_id, message.seq): message for message in rows}

    def _quote(self, messages: Sequence[Message]) -> list[str]:
        """Return messages as lines with day and speaker, in the same order."""
        return [join(render_message(row, self.style, with_day=True)[:-1]) for row in messages]

    def _mark(self, row: Correctable) -> str:
        """Return the text after a row that contradicts a correction; else nothing."""
        return f" [{self.say(row.correction)}]" if row.correction else ""

    def say(self, correction: Correction | None) -> str:
        """Return a correction as answers print it."""
        return join(correction.render(self.style)) if correction else ""


def _render_standing(fact: Fact) -> str:
    """Return a fact's category, and when it was true and believed, on one line."""
    until = f" until {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    parts = [f"{fact.category}, true from {fact.valid_at:%Y-%m-%d}{until}"]
    if fact.invalid_at is not None:
        why = fact.Because(fact.invalidated_because).label
        parts.append(f"retired {fact.invalid_at:%Y-%m-%d}: {why}")
    return f"({'; '.join(parts)})"


def _measure_unloaded(messages: Iterable[Message]) -> int:
    """Return the quarters of a token of messages whose content was not loaded."""
    return sum(getattr(message, "quarters", 0) for message in messages)

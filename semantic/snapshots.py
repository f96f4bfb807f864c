"""What a consolidation reads before it asks an engine: episodes and the facts near them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from episodic import queries as episodic_queries
from episodic.engines import Line
from episodic.headlines import headline_vectors
from episodic.models import Conversation, Episode
from indexing import queries as index
from indexing.models import MemoryKind
from memoryproject.ai import embeddings
from semantic import queries
from semantic.echoes import Answers, cut_quotes
from semantic.engines import EpisodeText, KnownFact, Served
from semantic.models import Fact
from semantic.services import Vectors

RELATED_FACTS_LIMIT = 20
WRONG_FACTS_LIMIT = 5

FindAnswers = Callable[[Conversation, int, int], Answers]
"""Returns what was served for messages from one seq to another; given by who knows of receipts."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a run has read: the episodes with their lines, and the facts it will show.

    `served` has the memory behind each thing that answers told; `quoted` are the
    memories that messages quote from answers: they are cut out of the lines.
    """

    conversation: Conversation
    episodes: tuple[Episode, ...]
    texts: tuple[EpisodeText, ...]
    known: tuple[KnownFact, ...]
    facts_by_alias: dict[str, Fact]
    served: Mapping[Served, uuid.UUID]
    quoted: tuple[uuid.UUID, ...]


def read_snapshot(
    conversation: Conversation, episodes: Sequence[Episode], *, find_answers: FindAnswers
) -> Snapshot:
    """Load the episodes' lines and the related facts, under fresh aliases.

    Everything is read from stored rows, so a run that is repeated reads the same.
    """
    messages = episodic_queries.messages_of_episodes(
        tenant=conversation.tenant, episode_ids=[episode.id for episode in episodes]
    )
    answers = find_answers(conversation, episodes[0].first_seq, episodes[-1].last_seq)
    texts: list[EpisodeText] = []
    quoted: list[uuid.UUID] = []
    for episode in episodes:
        lines, found = _cut_all_quotes(episodic_queries.to_lines(messages[episode.id]), answers)
        texts.append(_make_text(episode, lines, answers))
        quoted += found
    known, facts_by_alias = _load_related(conversation, episodes)
    return Snapshot(
        conversation=conversation,
        episodes=tuple(episodes),
        texts=tuple(texts),
        known=known,
        facts_by_alias=facts_by_alias,
        served=answers.served,
        quoted=tuple(dict.fromkeys(quoted)),
    )


def _cut_all_quotes(lines: Sequence[Line], answers: Answers) -> tuple[list[Line], list[uuid.UUID]]:
    """Return the lines without what they quote from answers, and the memories quoted.

    A line that holds nothing else is left out.
    """
    kept: list[Line] = []
    quoted: list[uuid.UUID] = []
    for line in lines:
        rest, found = cut_quotes(line, answers)
        quoted += found
        if not found or any(letter.isalnum() for letter in rest):
            kept.append(replace(line, content=rest))
    return kept, quoted


def _make_text(episode: Episode, lines: Sequence[Line], answers: Answers) -> EpisodeText:
    seqs = range(episode.first_seq, episode.last_seq + 1)
    return EpisodeText(
        title=episode.title,
        summary=episode.summary,
        lines=tuple(lines),
        served=tuple(one for one in answers.served if not one.seqs.isdisjoint(seqs)),
    )


def _load_related(
    conversation: Conversation, episodes: Sequence[Episode]
) -> tuple[tuple[KnownFact, ...], dict[str, Fact]]:
    """Return the facts nearest to any of the episodes, nearest first, as F1, F2, …"""
    nearest: dict[uuid.UUID, index.Neighbour] = {}
    vectors = headline_vectors(tenant=conversation.tenant, episodes=episodes)
    for vector in vectors.values():
        for near in facts_near(conversation, vector, at_most=RELATED_FACTS_LIMIT):
            best = nearest.get(near.memory_id)
            if best is None or near.cosine > best.cosine:
                nearest[near.memory_id] = near
    chosen = sorted(nearest.values(), key=lambda near: (-near.cosine, near.memory_id))
    chosen = chosen[:RELATED_FACTS_LIMIT]
    facts = queries.active_facts(
        tenant=conversation.tenant, fact_ids=[near.memory_id for near in chosen]
    )
    known: list[KnownFact] = []
    facts_by_alias: dict[str, Fact] = {}
    for near in chosen:
        fact = facts.get(near.memory_id)
        if fact is None:
            continue
        alias = f"F{len(known) + 1}"
        facts_by_alias[alias] = fact
        known.append(
            KnownFact(
                alias=alias,
                category=fact.category,
                fact=fact.fact,
                keywords=tuple(fact.keywords),
                valid_at=fact.valid_at,
                vector=near.vector,
            )
        )
    return tuple(known), facts_by_alias


def facts_near(
    conversation: Conversation, vector: Vectors | None, *, at_most: int
) -> list[index.Neighbour]:
    """Return the active facts of the conversation nearest to a vector, nearest first."""
    if vector is None:
        return []
    return index.nearest_active(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        shelf=MemoryKind.FACT,
        model=embeddings.get_embedder().name,
        vector=vector,
        at_most=at_most,
    )


def wrong_facts_near(
    conversation: Conversation, wrong: Iterable[uuid.UUID], vector: Vectors | None
) -> list[index.Neighbour]:
    """Return those of the closed facts that lie nearest to a vector, nearest first."""
    if vector is None:
        return []
    return index.nearest_among(
        wrong,
        tenant=conversation.tenant,
        model=embeddings.get_embedder().name,
        vector=vector,
        at_most=WRONG_FACTS_LIMIT,
    )

"""The flow that answers an agent: embed the query, search once, load, write the receipt."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message
from episodic.queries import Progress
from indexing.models import MemoryKind
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tokens import count_tokens
from retrieval import markdown, packing, receipts
from retrieval.hits import EpisodeHit, FactHit
from retrieval.models import Retrieval
from retrieval.search import Found, Question, search
from semantic import queries as semantic_queries
from semantic.models import Fact

EPISODIC_LIMIT = 5
SEMANTIC_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent asks. `conversation` is the agent's own id."""

    query: str
    conversation: uuid.UUID
    kind: Retrieval.Kind
    episodic_limit: int = EPISODIC_LIMIT
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that an endpoint renders; `degraded` names what was missing."""

    facts: tuple[FactHit, ...]
    episodes: tuple[EpisodeHit, ...]
    progress: Progress
    degraded: str
    receipt: Retrieval
    text: str
    """The markdown form."""

    @property
    def hits(self) -> list[FactHit | EpisodeHit]:
        """Everything served, facts first, each kind best first."""
        return [*self.facts, *self.episodes]


def recall(*, tenant: Tenant, asked_by: APIKey | None, request: Request, now: datetime) -> Answer:
    """Answer a request and write its receipt. Calls no language model.

    An unknown conversation gets an empty answer, and is not made. When the query
    cannot be embedded the words alone are searched and the answer says so.
    """
    conversation = episodic_queries.find_conversation(
        tenant=tenant, external_id=request.conversation
    )
    vector, degraded = _embed(request.query) if conversation else (None, "")
    found = _search(conversation, request, vector, now) if conversation else []
    facts = _load_facts(tenant, [hit for hit in found if hit.shelf is MemoryKind.FACT])
    episodes = _load_episodes(tenant, [hit for hit in found if hit.shelf is MemoryKind.EPISODE])
    if request.max_tokens is None:
        text = markdown.render(facts, episodes, detail=request.detail, now=now)
    else:
        facts, episodes, text = packing.pack(
            facts, episodes, max_tokens=request.max_tokens, now=now
        )
    receipt = receipts.write_receipt(
        asked=_asked(tenant, asked_by, request),
        conversation=conversation,
        served=[*(hit.found for hit in facts), *(hit.found for hit in episodes)],
        embedding_model="" if vector is None else embeddings.get_embedder().name,
        degraded=degraded,
        tokens=count_tokens(text),
    )
    return Answer(
        facts=tuple(facts),
        episodes=tuple(episodes),
        progress=episodic_queries.measure_progress(conversation),
        degraded=degraded,
        receipt=receipt,
        text=text,
    )


def _embed(query: str) -> tuple[Vectors | None, str]:
    try:
        return embeddings.embed_query(query), ""
    except (ModelUnavailable, ModelMisbehaved):
        return None, "no_vectors"


def _search(
    conversation: Conversation, request: Request, vector: Vectors | None, now: datetime
) -> list[Found]:
    only_facts = request.kind is Retrieval.Kind.CONTEXT
    shelves = (MemoryKind.FACT,) if only_facts else (MemoryKind.FACT, MemoryKind.EPISODE)
    question = Question(
        words=request.query,
        vector=vector,
        model=embeddings.get_embedder().name if vector is not None else "",
        shelves=shelves,
        fact_limit=request.semantic_limit,
        episode_limit=request.episodic_limit,
        category=request.category,
        now=now,
        with_lines=request.max_tokens is not None,
    )
    return search(conversation, question)


def _load_facts(tenant: Tenant, found: Sequence[Found]) -> list[FactHit]:
    """Load facts, evidence and source messages: three queries, however many hits."""
    ids = [hit.memory_id for hit in found]
    facts = Fact.objects.of(tenant).in_bulk(ids)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=ids)
    seqs = {
        (row.episode_id, seq)
        for rows in evidence.values()
        for row in rows
        for seq in row.message_seqs
    }
    messages = {
        (message.episode_id, message.seq): message
        for message in Message.objects.of(tenant).filter(
            episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
        )
    }
    return [
        FactHit(
            found=hit,
            fact=facts[hit.memory_id],
            evidence=tuple(evidence[hit.memory_id]),
            messages=tuple(
                messages[row.episode_id, seq]
                for row in evidence[hit.memory_id]
                for seq in row.message_seqs
                if (row.episode_id, seq) in messages
            ),
        )
        for hit in found
        if hit.memory_id in facts
    ]


def _load_episodes(tenant: Tenant, found: Sequence[Found]) -> list[EpisodeHit]:
    """Load episodes and their messages: two queries, however many hits."""
    ids = [hit.memory_id for hit in found]
    episodes = Episode.objects.of(tenant).in_bulk(ids)
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=ids)
    return [
        EpisodeHit(
            found=hit,
            episode=episodes[hit.memory_id],
            messages=tuple(messages[hit.memory_id]),
        )
        for hit in found
        if hit.memory_id in episodes
    ]


def _asked(tenant: Tenant, asked_by: APIKey | None, request: Request) -> receipts.Asked:
    return receipts.Asked(
        tenant=tenant,
        asked_by=asked_by,
        kind=request.kind,
        query=request.query,
        parameters={
            "conversation_id": str(request.conversation),
            "episodic_limit": request.episodic_limit,
            "semantic_limit": request.semantic_limit,
            "detail": request.detail,
            "category": request.category,
            "max_tokens": request.max_tokens,
        },
    )

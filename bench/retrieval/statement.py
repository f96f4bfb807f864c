"""The product's own search statement, to be run over a connection of our own."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from episodic.models import Conversation
from memoryproject.ai.embeddings import Vectors
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval
from retrieval.request import SEMANTIC_LIMIT, RecallRequest
from retrieval.scope import in_one
from retrieval.search import in_conversation
from retrieval.search.in_conversation import EPISODIC_LIMIT, Meaning, Question

Statement = tuple[str, dict[str, Any]]


def make_question(
    words: str,
    vector: Vectors | None,
    *,
    model: str,
    fact_limit: int = SEMANTIC_LIMIT,
    episode_limit: int = EPISODIC_LIMIT,
) -> Question:
    """Return what `retrieve_memory` asks of the search, by default with its own limits."""
    return Question(
        request=RecallRequest(words, uuid.uuid4(), Retrieval.Kind.RETRIEVE),
        meaning=Meaning() if vector is None else Meaning(vector, model),
        fact_limit=fact_limit,
        episode_limit=episode_limit,
        now=datetime.now(UTC),
    )


def build(conversation: Conversation, question: Question) -> Statement:
    """Return the statement and the parameters with which the product would search."""
    conversation.tenant = Tenant(id=conversation.tenant_id)
    return in_conversation.state(in_one(conversation), question)

"""Facts with vectors of one's own, straight into the index."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from itertools import count

import numpy as np

from episodic.models import Conversation
from indexing import services as index
from indexing.models import MemoryKind, UnitKind
from indexing.services import Entry
from memoryproject.tenancy.models import Tenant

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DIM = 16


def make_conversation(tenant: Tenant) -> Conversation:
    """Return a new conversation of the tenant."""
    return Conversation.objects.create(tenant=tenant, external_id=uuid.uuid4())


def fill(
    conversation: Conversation,
    texts: list[str],
    *,
    model: str = "test",
    seed: int = 1,
    user_id: str = "",
) -> list[uuid.UUID]:
    """Index one fact a text, each in a direction of its own; return the memories' ids."""
    random = np.random.default_rng(seed)
    memories = index.register(tenant=conversation.tenant, kind=MemoryKind.FACT, count=len(texts))
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        model=model,
        user_id=user_id,
        entries=[
            Entry(
                memory=memory,
                kind=UnitKind.FACT,
                lexical=text,
                vector=_unit(random.standard_normal(DIM)),
                language="simple",
                valid_at=NOW,
            )
            for memory, text in zip(memories, texts, strict=True)
        ],
    )
    return [memory.id for memory in memories]


def fill_messages(conversation: Conversation, *, episodes: int, seed: int = 1) -> None:
    """Index so many episodes, each with a headline and 15 messages in directions of their own."""
    random = np.random.default_rng(seed)
    memories = index.register(tenant=conversation.tenant, kind=MemoryKind.EPISODE, count=episodes)
    seqs = count(1)
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        model="test",
        entries=[
            Entry(
                memory=memory,
                kind=kind,
                lexical=f"lighthouse {'of' * (place % 3)} day{place}",
                vector=_unit(random.standard_normal(DIM)),
                language="simple",
                valid_at=NOW,
                first_seq=next(seqs) if kind is UnitKind.MESSAGE else 1,
            )
            for memory in memories
            for place, kind in enumerate([UnitKind.EPISODE, *[UnitKind.MESSAGE] * 15])
        ],
    )


def _unit(values: np.ndarray) -> np.ndarray:
    vector: np.ndarray = (values / np.linalg.norm(values)).astype(np.float32)
    return vector

"""The scores that the statement gives to single messages."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import numpy as np
import pytest

from episodic.models import Conversation
from indexing import services as index
from indexing.models import MemoryKind, UnitKind
from indexing.services import Entry
from memoryproject.ai.embeddings import Vectors
from retrieval.scope import in_one
from retrieval.search.in_conversation import search
from retrieval.tuning import HEADLINE_WEIGHT, MEANING_WEIGHT
from tests.conftest import Agent
from tests.retrieval.searches import make_question

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = np.array([1, 0, 0, 0], dtype=np.float32)
COSINES = [[0.5, 0.25], [1.0, 0.0, 0.75]]
HEADLINES = [0.5, 0.0]


def towards(cosine: float) -> Vectors:
    return np.array([cosine, (1 - cosine**2) ** 0.5, 0, 0], dtype=np.float32)


@pytest.fixture(scope="module")
def indexed(ana: Agent) -> Conversation:
    """Two memories, without words in common with any question; seqs from 1."""
    conversation = Conversation.objects.create(tenant=ana.tenant, external_id=uuid.uuid4())
    conversation.tenant = ana.tenant
    memories = index.register(tenant=ana.tenant, kind=MemoryKind.EPISODE, count=2)
    entries, seq = [], 0
    for memory, headline, cosines in zip(memories, HEADLINES, COSINES, strict=True):
        entries.append(
            Entry(
                memory=memory,
                kind=UnitKind.EPISODE,
                lexical="headline",
                vector=towards(headline),
                language="simple",
                valid_at=NOW,
            )
        )
        for cosine in cosines:
            seq += 1
            entries.append(
                Entry(
                    memory=memory,
                    kind=UnitKind.MESSAGE,
                    lexical=f"word{seq}",
                    vector=towards(cosine),
                    language="simple",
                    valid_at=NOW,
                    first_seq=seq,
                    last_seq=seq,
                )
            )
    index.add_entries(
        tenant=ana.tenant,
        conversation_id=conversation.id,
        model="test",
        entries=entries,
    )
    return conversation


def lines_of(
    conversation: Conversation, words: str, *, vector: Vectors | None = ASKED, limit: int = 10
) -> dict[int, float]:
    found = search(
        in_one(conversation),
        make_question(
            words,
            vector=vector,
            model="test" if vector is not None else "",
            shelves=(MemoryKind.FACT, MemoryKind.EPISODE),
            fact_limit=1,
            episode_limit=10,
            now=NOW,
            line_limit=limit,
        ),
    )
    return {seq: score for hit in found for seq, score in hit.lines}


def standing_out(values: list[float]) -> list[float]:
    numbers = np.array(values)
    deviations: list[float] = ((numbers - numbers.mean()) / numbers.std()).tolist()
    return deviations


def test_deviations_of_meaning_and_headline_are_added(indexed: Conversation) -> None:
    own = standing_out([cosine for row in COSINES for cosine in row])
    head = standing_out([0.5, 0.5, 0.0, 0.0, 0.0])
    wanted = {
        seq: MEANING_WEIGHT * a + HEADLINE_WEIGHT * b
        for seq, a, b in zip(range(1, 6), own, head, strict=True)
    }
    assert lines_of(indexed, "nothing") == pytest.approx(wanted, abs=1e-3)


def test_a_word_in_common_adds_its_deviation(indexed: Conversation) -> None:
    without, having = lines_of(indexed, "nothing"), lines_of(indexed, "word2")
    for seq in range(1, 6):
        assert having[seq] - without[seq] == pytest.approx(2.0 if seq == 2 else -0.5, abs=1e-6)


def test_without_vectors_only_messages_with_a_word_in_common_come(indexed: Conversation) -> None:
    assert lines_of(indexed, "word2 word4", vector=None).keys() == {2, 4}


def test_the_limit_keeps_the_best_of_all_episodes(indexed: Conversation) -> None:
    everything = lines_of(indexed, "nothing")
    best = sorted(everything, key=lambda seq: -everything[seq])[:2]
    assert lines_of(indexed, "nothing", limit=2).keys() == set(best)
    assert lines_of(indexed, "nothing", limit=0) == {}

"""Episodes, facts and their search units, as rows of the product's own tables."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import models
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from bench.retrieval.plan import Owner, Plan, conversation_id
from bench.retrieval.wording import TOPIC_COUNT, Wording
from episodic import fsrs_memory
from episodic.episode_index import NEIGHBOURS
from episodic.models import Episode, Message
from indexing import text
from indexing.models import Memory, SearchUnit, SearchVector
from memoryproject.ai.token_states import BYTES_A_TOKEN, VERSION
from memoryproject.database.ids import make_id
from semantic import queries as semantic_queries
from semantic.engines import Category
from semantic.models import Evidence, Fact

Vectors = npt.NDArray[np.float32]
Row = tuple[Any, ...]
Rows = dict[type[models.Model], list[Row]]

LANGUAGE = "english"
SHORTEST, LONGEST = 12, 30
"""Words of a fact or of a message."""
TOKENS_A_WORD = 2
"""The built-in embedder cuts the rare words of these texts so."""
SPREAD = 0.75
"""Length of the noise beside the unit vector of a topic."""
NAMES = ("Ana", "Bo")

_SCOPE = (
    *("id", "tenant_id", "conversation_id", "memory_id", "shelf", "category", "valid_at"),
    "kind",
)
COLUMNS: dict[type[models.Model], tuple[str, ...]] = {
    Memory: ("id", "tenant_id", "kind", "created_at"),
    Episode: (
        *("id", "tenant_id", "conversation_id", "first_seq", "last_seq", "title", "summary"),
        *("stability", "difficulty", "surprise", "start_at", "end_at", "created_at"),
        *("last_reviewed_at", "consolidated_at", "engine"),
    ),
    Message: (
        *("id", "tenant_id", "conversation_id", "seq", "role", "name", "content"),
        *("occurred_at", "received_at", "pending_after", "metadata", "episode_id"),
    ),
    Fact: (
        *("id", "tenant_id", "conversation_id", "category", "fact", "keywords", "content_hash"),
        *("changeset_id", "valid_at", "created_at"),
    ),
    Evidence: ("id", "tenant_id", "fact_id", "episode_id", "message_seqs", "changeset_id"),
    SearchVector: (*_SCOPE, "unit_id", "model", "dim", "embedding", "states"),
    # Last: its trigger locks the conversation's figures until the commit.
    SearchUnit: (*_SCOPE, "first_seq", "last_seq", "language", "lexical_text", "own_words"),
}
CONVERSATION_COLUMNS = ("id", "tenant_id", "external_id", "next_seq", "language")
CHANGESET_COLUMNS = ("id", "tenant_id", "conversation_id", "kind", "actor")


class Directions:
    """Vectors that cluster by topic."""

    def __init__(self, *, seed: int, dim: int) -> None:
        rng = np.random.default_rng([seed, 3])
        self._centres = _to_unit(rng.standard_normal((TOPIC_COUNT, dim), dtype=np.float32))

    def draw(self, rng: np.random.Generator, topics: npt.NDArray[np.int64]) -> Vectors:
        """Return one unit vector near each topic's centre."""
        dim = self._centres.shape[1]
        noise = rng.standard_normal((len(topics), dim), dtype=np.float32)
        return _to_unit(self._centres[topics] + noise * np.float32(SPREAD / np.sqrt(dim)))


def _to_unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def changeset_id(plan: Plan, index: int) -> uuid.UUID:
    """Return the id of the one changeset of a conversation."""
    return uuid.uuid5(conversation_id(plan, index), "changeset")


def conversation_rows(plan: Plan, owner: Owner) -> Iterator[tuple[int, Row, Row]]:
    """Yield each conversation's number, its row and that of its changeset."""
    said = np.bincount(plan.conversation, weights=plan.messages, minlength=len(plan.topics))
    for index, count in enumerate(said.astype(int).tolist()):
        own = conversation_id(plan, index)
        changeset = (changeset_id(plan, index), owner.tenant_id, own, "import", "benchmark")
        yield index, (own, owner.tenant_id, own, count + 1, LANGUAGE), changeset


class RowMaker:
    """Makes the rows of a run of episodes; the same run gives the same words and vectors."""

    def __init__(self, plan: Plan, owner: Owner, wording: Wording, directions: Directions) -> None:
        self._plan, self._owner = plan, owner
        self._wording, self._directions = wording, directions

    def make(self, first: int, last: int) -> Iterator[tuple[int, Rows]]:
        """Yield conversation and rows of the episodes first … last − 1, in order of arrival."""
        plan = self._plan
        rng = np.random.default_rng([plan.seed, 4, first])
        span = slice(first, last)
        topics = plan.topics[
            plan.conversation[span], rng.integers(plan.topics.shape[1], size=last - first)
        ]
        counts = 1 + plan.messages[span] + plan.facts[span]
        each = np.repeat(topics, counts)
        texts = self._wording.write(rng, each, rng.integers(SHORTEST, LONGEST + 1, len(each)))
        vectors = self._directions.draw(rng, each)
        surprises = rng.beta(2, 5, last - first)
        place = 0
        for offset, count in enumerate(counts.tolist()):
            yield (
                int(plan.conversation[first + offset]),
                self._make_episode(
                    first + offset,
                    texts[place : place + count],
                    vectors[place : place + count],
                    float(surprises[offset]),
                ),
            )
            place += count

    def _make_episode(
        self, number: int, texts: list[str], vectors: Vectors, surprise: float
    ) -> Rows:
        plan, tenant = self._plan, self._owner.tenant_id
        conversation = conversation_id(plan, int(plan.conversation[number]))
        at, first_seq = plan.arrives_at(number), int(plan.first_seq[number])
        said = texts[1 : 1 + int(plan.messages[number])]
        facts = texts[1 + len(said) :]
        last_seq = first_seq + len(said) - 1
        episode, title = make_id(), " ".join(texts[0].split()[:8])
        state = fsrs_memory.initial_state(surprise=surprise, at=at)
        rows: Rows = {model: [] for model in COLUMNS}
        rows[Memory].append((episode, tenant, "episode", at))
        rows[Episode].append(
            (
                *(episode, tenant, conversation, first_seq, last_seq, title, texts[0]),
                *(state.stability, state.difficulty, surprise),
                *(at, at + timedelta(minutes=len(said)), at, at, at, "benchmark"),
            )
        )
        lines = [f"{NAMES[place % 2]}: {content}" for place, content in enumerate(said)]
        for place, content in enumerate(said):
            rows[Message].append(
                (
                    *(make_id(), tenant, conversation, first_seq + place, "user"),
                    *(NAMES[place % 2], content, at + timedelta(minutes=place), at),
                    *(1, Jsonb({}), episode),
                )
            )
        scope = (tenant, conversation, episode, "episode", "", at)
        self._index(rows, scope, vectors[0], "episode", first_seq, last_seq, f"{title}. {texts[0]}")
        for place in range(len(said)):
            near = [
                lines[at]
                for at in range(max(0, place - NEIGHBOURS), min(len(lines), place + NEIGHBOURS + 1))
                if at != place
            ]
            around = "\n".join([lines[place], *near])
            seq, own = first_seq + place, len(lines[place].split())
            self._index(rows, scope, vectors[1 + place], "message", seq, seq, around, own=own)
        for place, fact in enumerate(facts):
            seq = first_seq + place % len(said)
            self._add_fact(rows, number, episode, seq, fact, vectors[1 + len(said) + place])
        return rows

    def _add_fact(
        self, rows: Rows, number: int, episode: uuid.UUID, seq: int, fact: str, vector: Vectors
    ) -> None:
        index = int(self._plan.conversation[number])
        conversation, at = conversation_id(self._plan, index), self._plan.arrives_at(number)
        tenant, own, changeset = self._owner.tenant_id, make_id(), changeset_id(self._plan, index)
        words = fact.rstrip(".").split()
        category = list(Category)[int(hashlib.sha256(fact.encode()).digest()[0]) % len(Category)]
        rows[Memory].append((own, tenant, "fact", at))
        rows[Fact].append(
            (
                *(own, tenant, conversation, category.value, fact, words[-3:]),
                *(semantic_queries.content_hash(fact), changeset, at, at),
            )
        )
        rows[Evidence].append((make_id(), tenant, own, episode, [seq], changeset))
        scope = (tenant, conversation, own, "fact", category.value, at)
        self._index(rows, scope, vector, "fact", None, None, f"{fact} {' '.join(words[-3:])}")

    def _index(
        self,
        rows: Rows,
        scope: Row,
        vector: Vectors,
        kind: str,
        first_seq: int | None,
        last_seq: int | None,
        lexical: str,
        own: int | None = None,
    ) -> None:
        unit, owner = make_id(), self._owner
        prepared = " ".join(text.prepare(lexical).split())
        rows[SearchUnit].append((unit, *scope, kind, first_seq, last_seq, LANGUAGE, prepared, own))
        states = None if own is None else _draw_states(own * TOKENS_A_WORD, seed=first_seq)
        rows[SearchVector].append(
            (make_id(), *scope, kind, unit, owner.model, owner.dim, HalfVector(vector), states)
        )


def _draw_states(tokens: int, *, seed: int | None) -> bytes:
    """Return states of tokens that point anywhere: judging them costs what real ones cost."""
    return bytes([VERSION]) + np.random.default_rng(seed).bytes(tokens * BYTES_A_TOKEN)


def fill_in(model: type[models.Model], columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the constant values of the other columns that may not be NULL."""
    return {
        str(field.column): _to_plain(field)
        for field in model._meta.concrete_fields
        if field.column not in columns
        and not field.null
        and not getattr(field, "generated", False)
        and not field.has_db_default()
    }


def _to_plain(field: Any) -> Any:
    value = field.get_default()
    return Jsonb(value) if isinstance(field, models.JSONField) else value

"""Runs the one statement that answers a query."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection
from pgvector import HalfVector

from episodic import fsrs_memory
from episodic.models import Conversation
from indexing import text
from indexing.models import MemoryKind
from retrieval.fusion import DEFAULTS, Fusion
from retrieval.statement import read_statement

Vectors = npt.NDArray[np.float32]

UNITS_A_FACT = 2
"""Units that a leg looks at for each fact of its depth: their words are scored twice."""
UNITS_AN_EPISODE = 5
"""Likewise; an episode has many."""
HEADLINE_WEIGHT = 0.5
"""Of the likeness of an episode's headline in the score of its messages."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to search for. `vector` is None where no model could embed the query."""

    words: str
    vector: Vectors | None
    model: str
    shelves: tuple[MemoryKind, ...]
    fact_limit: int
    episode_limit: int
    category: str | None
    now: datetime
    as_of: datetime | None = None
    """Search what was true then; None: what is believed now."""
    explain: bool = False
    line_limit: int = 0
    """Messages of the found episodes that come along, the best of all together."""
    fusion: Fusion = DEFAULTS
    shown: bool = False
    """Whether what markdown prints comes along, which saves loading it."""


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A message that matches. `score`: deviations from the mean message, over both legs."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that answers, with how it got there. Ranks start at 1; None: not in that leg."""

    memory_id: uuid.UUID
    shelf: MemoryKind
    rank: int
    score: float
    rrf: float
    retrievability: float
    lexical_rank: int | None
    vector_rank: int | None
    lexical_found: int
    vector_found: int
    lines: tuple[LineMatch, ...]
    terms: tuple[str, ...] = ()
    """Lexemes of the query that it holds, where an explanation was asked for."""
    shown: tuple[Any, ...] = ()
    """What markdown prints of it, where that was asked for; see `hybrid.sql`."""
    lexical_score: float | None = None
    """BM25 of its best unit; None: not in that leg."""
    cosine: float | None = None
    """Of its unit that is nearest in meaning; None: not in that leg."""


def search(conversation: Conversation, question: Question) -> list[Found]:
    """Return the best memories of each shelf, each shelf best first, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(*state(conversation, question))
        return [_to_found(row) for row in cursor.fetchall()]


def state(conversation: Conversation, question: Question) -> tuple[str, dict[str, Any]]:
    """Return the statement that answers a question, and its parameters."""
    lines = question.line_limit > 0
    return read_statement(as_of=question.as_of is not None, lines=lines), {
        "tenant": conversation.tenant_id,
        "conversation": conversation.id,
        "shelves": [shelf.value for shelf in question.shelves],
        "language": conversation.language,
        "words": text.prepare(question.words),
        "model": question.model,
        "dim": 1 if question.vector is None else len(question.vector),
        "vector": None if question.vector is None else HalfVector(question.vector).to_text(),
        "category": question.category,
        **question.fusion.as_parameters(),
        "fact_pool": UNITS_A_FACT * question.fusion.depth,
        "episode_pool": UNITS_AN_EPISODE * question.fusion.depth,
        "fact_limit": question.fact_limit,
        "episode_limit": question.episode_limit,
        "now": question.now,
        "factor": fsrs_memory.FACTOR,
        "decay": fsrs_memory.DECAY,
        "as_of": question.as_of,
        "explain": question.explain,
        "shown": question.shown,
        "line_limit": question.line_limit,
        "headline": HEADLINE_WEIGHT,
    }


def _to_found(row: Sequence[Any]) -> Found:
    memory_id, shelf, rank, score, rrf, ret, lexical, vector, *rest = row
    n_lexical, n_vector, lines, terms, shown, lexical_score, cosine = rest
    return Found(
        memory_id=memory_id,
        shelf=MemoryKind(shelf),
        rank=rank,
        score=score,
        rrf=rrf,
        retrievability=ret,
        lexical_rank=lexical,
        vector_rank=vector,
        lexical_found=n_lexical,
        vector_found=n_vector,
        lines=tuple(LineMatch(*line) for line in lines or []),
        terms=tuple(terms or []),
        shown=tuple(shown or []),
        lexical_score=lexical_score,
        cosine=cosine,
    )

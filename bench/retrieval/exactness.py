"""Whether the statement finds what an exact search finds, computed from the same rows."""

from __future__ import annotations

import math
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from pgvector.psycopg import register_vector

from bench.retrieval import statement
from bench.retrieval.databases import Connection
from episodic.models import Conversation
from indexing import text
from memoryproject.ai.embeddings import Vectors

K1, B = 1.2, 0.75
TOP_WORDS = 10
TOP_VECTORS = 100
EVERYTHING = 10_000
"""Memories served at most: more than both legs together hold."""
SLACK = 1e-6
"""Relative: scores as close as that are a tie, and either memory is right."""

Floats = npt.NDArray[np.float64]
Shelves = dict[str, dict[uuid.UUID, float]]
"""By shelf: the score of each memory, higher is better."""

READ_LEXEMES = """
SELECT unit.id, memory_id, shelf, word.lexeme, cardinality(word.positions), length.dl
FROM indexing_searchunit AS unit,
    LATERAL (SELECT public.memory_ts(language, lexical_text) AS ts) AS prepared,
    LATERAL (SELECT sum(cardinality(positions)) AS dl FROM unnest(prepared.ts)) AS length,
    LATERAL unnest(prepared.ts) AS word
WHERE conversation_id = %s AND invalid_at IS NULL AND word.lexeme = ANY(%s)
"""
READ_SIZES = """
SELECT shelf, count(*)::float8, sum((
    SELECT coalesce(sum(cardinality(positions)), 0)
    FROM unnest(public.memory_ts(language, lexical_text))
))::float8
FROM indexing_searchunit WHERE conversation_id = %s AND invalid_at IS NULL GROUP BY shelf
"""
READ_QUESTION = "SELECT tsvector_to_array(public.memory_ts(%s, %s))"
READ_VECTORS = """
SELECT memory_id, shelf, embedding FROM indexing_searchvector
WHERE conversation_id = %s AND invalid_at IS NULL AND model = %s
"""


@dataclass(frozen=True, slots=True)
class Exactness:
    """Shares, each a mean over questions and shelves."""

    lexical_overlap_at_10: float
    vector_recall_at_100: float
    questions: int


def measure(
    connection: Connection,
    conversation: Conversation,
    words: Sequence[str],
    vectors: Sequence[Vectors],
    *,
    model: str,
) -> Exactness:
    """Compare both legs with an exact search, question by question."""
    register_vector(connection)
    exact_words = _score_words(connection, conversation, words)
    exact_vectors = _score_vectors(connection, conversation, vectors, model=model)
    lexical = [
        share
        for question, exact in zip(words, exact_words, strict=True)
        for share in share_found(
            _ranked(connection, conversation, question, None, model), exact, TOP_WORDS
        )
    ]
    meaning = [
        share
        for vector, exact in zip(vectors, exact_vectors, strict=True)
        for share in share_found(
            _ranked(connection, conversation, "", vector, model), exact, TOP_VECTORS
        )
    ]
    return Exactness(float(np.mean(lexical)), float(np.mean(meaning)), len(words))


def _ranked(
    connection: Connection,
    conversation: Conversation,
    words: str,
    vector: Vectors | None,
    model: str,
) -> dict[str, list[uuid.UUID]]:
    """Return what the statement's one leg found, by shelf, best first."""
    question = statement.make_question(
        words, vector, model=model, fact_limit=EVERYTHING, episode_limit=EVERYTHING
    )
    cursor = connection.execute(*statement.build(conversation, question))
    names = [column.name for column in cursor.description or []]
    rank = names.index("lexical_rank" if vector is None else "vector_rank")
    found: dict[str, list[tuple[int, uuid.UUID]]] = defaultdict(list)
    for row in cursor:
        if row[rank] is not None:
            found[row[names.index("shelf")]].append((row[rank], row[names.index("memory_id")]))
    return {shelf: [memory for _, memory in sorted(rows)] for shelf, rows in found.items()}


def share_found(found: dict[str, list[uuid.UUID]], exact: Shelves, top: int) -> list[float]:
    """Return, for each shelf, which share of its exact best was found among the best."""
    shares = []
    for shelf, scores in exact.items():
        best = sorted(scores.values(), reverse=True)[:top]
        if not best:
            continue
        least = best[-1] * (1 - SLACK) if best[-1] > 0 else best[-1] - SLACK
        right = [
            memory for memory in found.get(shelf, [])[:top] if scores.get(memory, -np.inf) >= least
        ]
        shares.append(len(right) / len(best))
    return shares


def _score_words(
    connection: Connection, conversation: Conversation, questions: Sequence[str]
) -> list[Shelves]:
    """Return exact Okapi BM25 of every memory that has a word of the question, by question.

    A unit is a document and a shelf a collection; a memory scores as its best unit.
    """
    asked = [_read_lexemes(connection, conversation.language, words) for words in questions]
    every = sorted({lexeme for lexemes in asked for lexeme in lexemes})
    sizes = {
        shelf: (count, lexemes / count)
        for shelf, count, lexemes in connection.execute(READ_SIZES, [conversation.id])
    }
    postings: dict[tuple[str, str], list[tuple[Any, float, float]]] = defaultdict(list)
    for unit, memory, shelf, lexeme, tf, dl in connection.execute(
        READ_LEXEMES, [conversation.id, every]
    ):
        postings[shelf, lexeme].append(((unit, memory), tf, float(dl)))
    return [score_question(lexemes, postings, sizes) for lexemes in asked]


def _read_lexemes(connection: Connection, language: str, words: str) -> list[str]:
    row = connection.execute(READ_QUESTION, [language, text.prepare(words)]).fetchone()
    return list(row[0]) if row else []


def score_question(
    lexemes: Sequence[str],
    postings: dict[tuple[str, str], list[tuple[Any, float, float]]],
    sizes: dict[str, tuple[float, float]],
) -> Shelves:
    scores: Shelves = {}
    for shelf, (count, average) in sizes.items():
        units: dict[Any, float] = defaultdict(float)
        for lexeme in lexemes:
            rows = postings.get((shelf, lexeme), [])
            weight = idf(count, len(rows))
            for unit, tf, dl in rows:
                units[unit] += weight * tf * (K1 + 1) / (tf + K1 * (1 - B + B * dl / average))
        memories: dict[uuid.UUID, float] = {}
        for (_, memory), score in units.items():
            memories[memory] = max(score, memories.get(memory, 0.0))
        scores[shelf] = memories
    return scores


def idf(documents: float, holding: int) -> float:
    """Return the weight of a lexeme that so many of the documents hold."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _score_vectors(
    connection: Connection,
    conversation: Conversation,
    vectors: Sequence[Vectors],
    *,
    model: str,
) -> list[Shelves]:
    """Return the exact inner product of every memory's best unit, by question."""
    with psycopg.Cursor(connection) as cursor:
        rows = cursor.execute(READ_VECTORS, [conversation.id, model], binary=True).fetchall()
    matrix = np.stack([row[2].to_numpy() for row in rows]).astype(np.float32)
    products = matrix @ np.stack(vectors).T
    scored: list[Shelves] = []
    for own in products.T.tolist():
        shelves: Shelves = defaultdict(dict)
        for (memory, shelf, _), product in zip(rows, own, strict=True):
            best = shelves[shelf].get(memory, -np.inf)
            shelves[shelf][memory] = max(product, best)
        scored.append(dict(shelves))
    return scored

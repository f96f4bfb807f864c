"""Searches a conversation, or a user's: one statement finds and ranks facts and episodes."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Any, cast

from django.core.cache import cache

from episodic import fsrs_memory
from indexing import text
from indexing.detection import detect_question_language
from indexing.models import MemoryKind, VectorIndex
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder, Vectors
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.token_states import Asked
from memoryproject.database.vectors import HalfVector
from memoryproject.tenancy.models import Tenant
from retrieval import tuning
from retrieval.hits import Hit
from retrieval.models import Retrieval
from retrieval.question_times import NO_TIMES, TimesAsked
from retrieval.request import RecallRequest
from retrieval.scope import Scope
from retrieval.search.late import judge, read_lines
from retrieval.statements import read_hybrid, run

EPISODIC_LIMIT = 5
DEPTH = 100
"""Number of memories from each ranking: the specification's; with 10, R@5 is .003 lower."""
LEAST_LINES = 100
LEGS = 3
"""Number of rankings: words, meaning, and times if the question names any."""
MOST_LINES = 5000
TOKENS_A_LINE = 10
"""Assumed tokens of a line; no answer is full of shorter ones."""
UNITS_A_FACT = 2
"""Units that a ranking reads for each fact of its depth, as their words are scored again."""
UNITS_AN_EPISODE = 5
"""Number of an episode's best units that are read: it has many."""
REMEMBERED_S = 30.0
SHELVES = {shelf.value: shelf for shelf in MemoryKind}
LINES, STATES = 10, -1
"""Columns of the statement's rows with lines, and with the states of their tokens."""
FIXED = (
    *("shelves", "category", "as_of", "believed", "known"),
    *("shared", "everyone", "of_agent", "uncounted"),
    *("explain", "shown", "with_lines", "with_states", "timely", "model", "dim"),
)
"""Parameters that select a prepared plan: one plan for each combination of values."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vector of a query; None: only words are searched. `degraded`: the answer's note."""

    vector: Vectors | None = None
    model: str = ""
    degraded: str = ""
    asked: Asked | None = None
    """Tokens of the question; None: the model has no token states."""

    def to_parameters(self) -> dict[str, Any]:
        """Return the parameters for a statement."""
        return {
            "model": self.model,
            "dim": 1 if self.vector is None else len(self.vector),
            "vector": None if self.vector is None else HalfVector(self.vector).to_text(),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A request, with everything else that a search needs."""

    request: RecallRequest
    meaning: Meaning
    now: datetime
    fact_limit: int
    episode_limit: int
    line_limit: int = 0
    """Number of messages from the episodes found to return, the best of all of them."""
    known: Sequence[uuid.UUID] | None = None
    """Search only these memories, active or not: what was believed at a moment."""
    shelves: tuple[MemoryKind, ...] = (MemoryKind.FACT, MemoryKind.EPISODE)
    times: TimesAsked = NO_TIMES
    """Times that it asks about; not read without a budget."""
    shown: bool = False
    """Whether the text that markdown prints is returned, which saves loading it."""


def to_question(
    request: RecallRequest,
    meaning: Meaning,
    now: datetime,
    known: Sequence[uuid.UUID] | None,
) -> Question:
    """Return a request as a question to the search.

    With a budget: more facts, and single messages; from every episode that a ranking found, unless
    episodes are limited.
    """
    fact_limit, episode_limit, line_limit = request.semantic_limit, EPISODIC_LIMIT, 0
    if request.max_tokens is not None:
        fact_limit, episode_limit = max(fact_limit, tuning.POINTING_FACTS), LEGS * DEPTH
        line_limit = min(max(LEAST_LINES, request.max_tokens // TOKENS_A_LINE), MOST_LINES)
    only_facts = request.kind is Retrieval.Kind.CONTEXT
    return Question(
        request=request,
        meaning=meaning,
        now=now,
        times=request.read_times(now),
        fact_limit=fact_limit,
        episode_limit=request.episodic_limit or episode_limit,
        line_limit=line_limit,
        known=known,
        shelves=(MemoryKind.FACT,) if only_facts else (MemoryKind.FACT, MemoryKind.EPISODE),
        shown=request.is_plain,
    )


def embed(query: str, embedder: Embedder) -> Meaning:
    """Return the vector of a query, or a note that there is none at the moment."""
    try:
        vector, asked = embeddings.read_query(query, embedder)
        return Meaning(vector, embedder.name, asked=asked)
    except (ModelUnavailable, ModelMisbehaved):
        return Meaning(degraded="no_vectors")


def search(scope: Scope, question: Question) -> list[Hit]:
    """Return the best memories of each kind, best first, by one statement.

    A fact that seems to contradict an older one comes before it.
    """
    return put_newer_first(search_unordered(scope, question))


def search_unordered(scope: Scope, question: Question) -> list[Hit]:
    """Return the result of `search` in order of rank, before newer facts are moved up."""
    statement, params = state(scope, question)
    rows = run(statement, params, fixed=FIXED, keep=_is_usual(scope, question))
    lines = [read_lines(row[LINES], row[STATES]) for row in rows]
    # All lines of the requested times count, whatever their token scores.
    at_most = tuning.JUDGED_LINES if question.times.spans else question.line_limit
    judged = judge(lines, question.meaning.asked, at_most=at_most)
    return [_to_hit(row, own) for row, own in zip(rows, judged, strict=True)]


def _is_usual(scope: Scope, question: Question) -> bool:
    """Return whether the prepared plan fits; other moments and categories need a new one."""
    is_now = question.request.as_of is None and question.known is None
    is_usual = is_now and question.request.searched_category is None
    return is_usual and scope.key not in find_approximate(scope.tenant)


def find_approximate(tenant: Tenant) -> set[uuid.UUID]:
    """Return the conversations and users' scopes that have an approximate index.

    Up to half a minute old.
    """

    def load() -> set[Any]:
        rows = VectorIndex.objects.of(tenant).exclude(conversation=None, user_scope=None)
        return {home or owner for home, owner in rows.values_list("conversation_id", "user_scope")}

    return cast(set[uuid.UUID], cache.get_or_set(f"approximate:{tenant.id}", load, REMEMBERED_S))


def put_newer_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in order, but each after newer ones that contradict it; ranks follow."""
    if not any(hit.newer for hit in hits):
        return list(hits)
    by_id = {hit.memory_id: hit for hit in hits}
    placed: set[uuid.UUID] = set()
    ordered: list[Hit] = []

    def place(hit: Hit) -> None:
        if hit.memory_id not in placed:
            placed.add(hit.memory_id)
            for newer in hit.newer:
                place(by_id[newer])
            ordered.append(hit)

    for hit in hits:
        place(hit)
    ranks = count(1)
    return [
        replace(hit, rank=next(ranks)) if hit.shelf is MemoryKind.FACT else hit for hit in ordered
    ]


def state(scope: Scope, question: Question) -> tuple[str, dict[str, Any]]:
    """Return the statement that answers a question, and its parameters."""
    with_states = question.line_limit > 0 and question.meaning.asked is not None
    return read_hybrid(), {
        **_narrow(scope),
        **_read_words(scope, question),
        **question.times.to_parameters(at=question.now.date()),
        "shelves": [shelf.value for shelf in question.shelves],
        **question.request.parameters(),
        "now": question.now,
        "fact_limit": question.fact_limit,
        "episode_limit": question.episode_limit,
        "line_limit": max(question.line_limit, tuning.JUDGED_LINES)
        if with_states
        else question.line_limit,
        "shown": question.shown,
        **question.meaning.to_parameters(),
        "depth": DEPTH,
        "fact_pool": UNITS_A_FACT * DEPTH,
        "episode_pool": UNITS_AN_EPISODE * DEPTH,
        "factor": fsrs_memory.FACTOR,
        "decay": fsrs_memory.DECAY,
        "believed": question.known is not None,
        "known": list(question.known or ()),
        "with_lines": question.line_limit > 0,
        "with_states": with_states,
        "meaning": tuning.MEANING_WEIGHT,
        "headline": tuning.HEADLINE_WEIGHT,
    }


def _narrow(scope: Scope) -> dict[str, Any]:
    """Return the parameters for the scope."""
    return {
        "tenant": scope.tenant.id,
        "shared": scope.is_shared,
        "conversation": scope.conversation.id if scope.conversation else None,
        "owners": list(scope.owners),
        "owner": scope.key if scope.is_shared and scope.agent_id is None else None,
        "everyone": scope.is_everything,
        "left_out": scope.left_out,
        "of_agent": scope.agent_id is not None and not scope.is_everything,
        "homes": list(scope.homes),
        "uncounted": scope.is_moving,
    }


def _read_words(scope: Scope, question: Question) -> dict[str, Any]:
    """Return the words of a query to search, and the languages in which to read them.

    With several languages, the question's own decides about stop words.
    """
    query = question.request.query
    words = text.prepare(question.times.words or query)
    languages, language = list(scope.languages), scope.languages[0]
    if scope.is_shared:
        language = detect_question_language(query)
    return {"words": words, "languages": languages, "language": language}


def _to_hit(row: Sequence[Any], lines: Sequence[tuple[int, float]]) -> Hit:
    """Return a hit from a row of the statement, whose columns are in the order of its fields."""
    memory_id, shelf, *numbers, _, terms, shown, lexical_score, cosine, newer, _ = row
    values = [*numbers, tuple(lines), tuple(terms or ()), tuple(shown or ())]
    values += [lexical_score, cosine, tuple(newer)]
    return Hit(memory_id, SHELVES[shelf], *values)

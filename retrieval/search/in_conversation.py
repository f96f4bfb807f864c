"""What an agent asks of `retrieve_memory` and `context_pre_retrieve`, and its search.

One statement finds and ranks the facts and episodes of a conversation.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import count
from typing import Any, cast

from django.core.cache import cache

from episodic import fsrs_memory
from episodic.models import Conversation
from indexing import text
from indexing.models import MemoryKind, VectorIndex
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.database.vectors import HalfVector
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED
from retrieval.hits import Hit
from retrieval.models import Retrieval
from retrieval.search.scores import DEFAULTS, Fusion
from retrieval.statements import read_file, run

EPISODIC_LIMIT = 5
SCOPES = CONVERSATION, USER, TENANT = "conversation", "user", "tenant"
"""Where to look: in the conversation, in all of its user's, or in all of the tenant's."""
SEMANTIC_LIMIT = 20
POINTING_FACTS = 40
"""Facts that point at the messages they were drawn from, served or not."""
LEAST_LINES = 100
MOST_LINES = 5000
TOKENS_A_LINE = 10
"""Shorter messages exist; that many of them in one answer do not."""
UNITS_A_FACT = 2
"""Units that a leg looks at for each fact of its depth: their words are scored twice."""
UNITS_AN_EPISODE = 5
"""Likewise; an episode has many."""
MEANING_WEIGHT = 1.5
"""Of a message's own likeness in its score, where its words have 1."""
HEADLINE_WEIGHT = 0.5
"""Of the likeness of an episode's headline in the score of its messages."""
REMEMBERED_S = 30.0
SHELVES = {shelf.value: shelf for shelf in MemoryKind}
FIXED = (
    *("shelves", "category", "as_of", "believed", "known"),
    *("explain", "shown", "with_lines", "model", "dim"),
)
"""Parameters that say what is asked for: a plan is kept for each of their values."""

SAME = "model category fact_limit episode_limit line_limit now as_of explain shown".split()
"""What the statement takes from a question as it is."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What an agent asks. `conversation_id` is the agent's own.

    `episodic_limit` None: five episodes, or with `max_tokens` as many as the budget holds.
    """

    query: str
    conversation_id: uuid.UUID
    kind: Retrieval.Kind
    episodic_limit: int | None = None
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    max_tokens: int | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    explain: bool = False
    min_seq: int | None = None
    fusion: Mapping[str, Any] | None = None
    """Numbers to use instead of the tenant's, by their names in `Fusion`."""
    scope: str = CONVERSATION
    user_id: str | None = None
    """Whose conversations, with the scope `user`; None: whose the conversation is."""
    fence: bool = False
    """Whether the text stands between marks that say it is data."""
    links: str = DEFANGED
    """How the text prints links: `defanged` or `plain`."""
    whole: bool = False
    """Whether very long messages are shown whole, where no budget cuts them."""
    min_relevance: float = 0.0
    """An answer that is less relevant is empty."""

    @property
    def is_plain(self) -> bool:
        """Whether the search brings all that is shown: markdown shows few messages."""
        shows_few = self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW
        return shows_few and self.scope == CONVERSATION


NAMES = {item.name for item in fields(RecallRequest)} - {"query", "kind", "min_seq"}


def read_request(retrieval: Retrieval) -> RecallRequest:
    """Return what a receipt's question asked, to be answered once more as markdown.

    Without `min_seq`: what was new then is processed by now.
    """
    params = {name: value for name, value in retrieval.parameters.items() if name in NAMES}
    params["conversation_id"] = uuid.UUID(params["conversation_id"])
    for moment in ("as_of", "known_at"):
        if params.get(moment):
            params[moment] = datetime.fromisoformat(params[moment])
    is_raw = retrieval.kind == Retrieval.Kind.RETRIEVE_RAW
    kind = Retrieval.Kind.RETRIEVE if is_raw else Retrieval.Kind(retrieval.kind)
    return RecallRequest(query=retrieval.query, kind=kind, **params)


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
    known: Sequence[uuid.UUID] | None = None
    """Search these memories alone, active or not: what was believed at a moment."""
    explain: bool = False
    line_limit: int = 0
    """Messages of the found episodes that come along, the best of all together."""
    fusion: Fusion = DEFAULTS
    shown: bool = False
    """Whether what markdown prints comes along, which saves loading it."""


def to_question(
    request: RecallRequest,
    fusion: Fusion,
    vector: Vectors | None,
    model: str,
    now: datetime,
    known: Sequence[uuid.UUID] | None,
) -> Question:
    """Return what a request asks of the search.

    For a budget: more facts to point, and single messages; unless episodes are limited, from
    every episode that a leg found.
    """
    fact_limit, episode_limit, line_limit = request.semantic_limit, EPISODIC_LIMIT, 0
    if request.max_tokens is not None:
        fact_limit, episode_limit = max(fact_limit, POINTING_FACTS), 2 * fusion.depth
        line_limit = min(max(LEAST_LINES, request.max_tokens // TOKENS_A_LINE), MOST_LINES)
    only_facts = request.kind is Retrieval.Kind.CONTEXT
    return Question(
        words=request.query,
        vector=vector,
        model=model,
        shelves=(MemoryKind.FACT,) if only_facts else (MemoryKind.FACT, MemoryKind.EPISODE),
        fact_limit=fact_limit,
        episode_limit=request.episodic_limit or episode_limit,
        category=request.category,
        now=now,
        as_of=request.as_of,
        known=known,
        explain=request.explain,
        line_limit=line_limit,
        fusion=fusion,
        shown=request.is_plain,
    )


def embed_or_none(query: str) -> tuple[Vectors | None, str]:
    """Return the vector of a query; while there is none, None and what the answer says of it."""
    try:
        return embeddings.embed_query(query), ""
    except (ModelUnavailable, ModelMisbehaved):
        return None, "no_vectors"


def search(conversation: Conversation, question: Question) -> list[Hit]:
    """Return the best memories of each shelf, each shelf best first, in one statement.

    A fact that seems to contradict an older one comes before it.
    """
    return put_newer_first(search_unordered(conversation, question))


def search_unordered(conversation: Conversation, question: Question) -> list[Hit]:
    """Return what `search` does by rank alone, before newer facts are put first."""
    statement, params = state(conversation, question)
    rows = run(statement, params, fixed=FIXED, keep=_is_usual(conversation, question))
    return [_to_hit(row) for row in rows]


def _is_usual(conversation: Conversation, question: Question) -> bool:
    """Return whether a kept plan serves: those of another moment or category are made anew."""
    is_now = question.as_of is None and question.known is None and question.category is None
    return is_now and conversation.id not in find_approximate(conversation.tenant)


def find_approximate(tenant: Tenant) -> set[uuid.UUID]:
    """Return the conversations that have an approximate index, as of half a minute ago at most."""

    def load() -> set[Any]:
        rows = VectorIndex.objects.of(tenant).exclude(conversation=None)
        return {*rows.values_list("conversation_id", flat=True)}

    return cast(set[uuid.UUID], cache.get_or_set(f"approximate:{tenant.id}", load, REMEMBERED_S))


def put_newer_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in their order, but each behind its newer ones; ranks follow."""
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


def state(conversation: Conversation, question: Question) -> tuple[str, dict[str, Any]]:
    """Return the statement that answers a question, and its parameters."""
    return read_file("hybrid.sql"), {
        "tenant": conversation.tenant_id,
        "conversation": conversation.id,
        "shelves": [shelf.value for shelf in question.shelves],
        "language": conversation.language,
        "words": text.prepare(question.words),
        **{name: getattr(question, name) for name in SAME},
        "dim": 1 if question.vector is None else len(question.vector),
        "vector": None if question.vector is None else HalfVector(question.vector).to_text(),
        **question.fusion.as_parameters(),
        "fact_pool": UNITS_A_FACT * question.fusion.depth,
        "episode_pool": UNITS_AN_EPISODE * question.fusion.depth,
        "factor": fsrs_memory.FACTOR,
        "decay": fsrs_memory.DECAY,
        "believed": question.known is not None,
        "known": list(question.known or ()),
        "with_lines": question.line_limit > 0,
        "meaning": MEANING_WEIGHT,
        "headline": HEADLINE_WEIGHT,
    }


def _to_hit(row: Sequence[Any]) -> Hit:
    """Return a row of the statement, whose columns are in the order of a hit's values."""
    memory_id, shelf, *numbers, lines, terms, shown, lexical_score, cosine, newer = row
    matches = tuple((seq, score) for seq, score in lines or ())
    values = [*numbers, matches, tuple(terms or ()), tuple(shown or ())]
    values += [lexical_score, cosine, tuple(newer)]
    return Hit(memory_id, SHELVES[shelf], *values)

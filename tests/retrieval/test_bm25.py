"""BM25 in SQL is the same BM25 that two well-known libraries compute."""

from __future__ import annotations

import math
import random
import uuid
from datetime import UTC, datetime

import bm25s
import pytest
import rank_bm25
from django.db import connection

from episodic.models import Conversation
from indexing import services as index
from indexing.models import MemoryKind, UnitKind
from indexing.services import Entry
from memoryproject.tenancy.models import Tenant
from retrieval.scope import in_one
from retrieval.search.in_conversation import search, state
from tests.conftest import Agent
from tests.retrieval.searches import make_question

pytestmark = pytest.mark.django_db

SENTENCES = [
    "the cat sat on the mat with another cat",
    "a dog and a cat are friends",
    "dogs run fast in the park every morning",
    "the quick brown fox jumps over the lazy dog",
    "she prefers tea over coffee in the morning",
    "coffee coffee coffee is what they drink at work",
    "a morning run in the park with the dog and tea after",
    "he moved to Berlin in March for a new job",
    "the Berlin office has a coffee machine",
    "two cats named Tea and Coffee live there",
]
QUERIES = ["coffee tea", "dog park morning", "berlin job march coffee", "cat", "quick lazy foxes"]
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def corpus() -> list[str]:
    numbers = random.Random(1)
    words = " ".join(SENTENCES).split()
    return SENTENCES + [
        " ".join(numbers.choices(words, k=numbers.randint(3, 25))) for _ in range(100)
    ]


def index_corpus(tenant: Tenant, texts: list[str]) -> tuple[Conversation, list[uuid.UUID]]:
    conversation = Conversation.objects.create(
        tenant=tenant, external_id=uuid.uuid4(), language="english"
    )
    memories = index.register(tenant=tenant, kind=MemoryKind.FACT, count=len(texts))
    index.add_entries(
        tenant=tenant,
        conversation_id=conversation.id,
        model="none",
        entries=[
            Entry(memory, UnitKind.FACT, text, vector=None, language="english", valid_at=NOW)
            for memory, text in zip(memories, texts, strict=True)
        ],
    )
    return conversation, [memory.id for memory in memories]


def lexemes(text: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, cardinality(positions) FROM unnest(public.memory_ts('english', %s))",
            [text],
        )
        return [lexeme for lexeme, count in cursor.fetchall() for _ in range(count)]


def scores_in_sql(conversation: Conversation, query: str) -> dict[uuid.UUID, float]:
    """Return BM25 by memory, read from the statement's own intermediate result."""
    question = make_question(query, shelves=(MemoryKind.FACT,), now=NOW)
    statement, params = state(in_one(conversation), question)
    head = statement[: statement.index("lexical AS (")].rstrip().rstrip(",")
    params |= {"fact_pool": 1000, "language": "english", "languages": ["english"]}
    with connection.cursor() as cursor:
        cursor.execute(f"{head} SELECT memory_id, score FROM lexical_unit", params)
        return dict(cursor.fetchall())


@pytest.mark.parametrize("query", QUERIES)
def test_scores_equal_bm25s_up_to_its_constant(ana: Agent, query: str) -> None:
    texts = corpus()
    conversation, ids = index_corpus(ana.tenant, texts)
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index([lexemes(text) for text in texts], show_progress=False)
    wanted = 2.2 * theirs.get_scores(sorted(set(lexemes(query))))
    found = scores_in_sql(conversation, query)
    assert [found.get(memory_id, 0.0) for memory_id in ids] == pytest.approx(
        wanted.tolist(), abs=1e-5
    )


@pytest.mark.parametrize("word", ["berlin", "march", "machine", "lazy"])
def test_scores_equal_rank_bm25s_up_to_its_idf(ana: Agent, word: str) -> None:
    """It leaves out the 1 + inside the logarithm; for one word that is one factor."""
    texts = corpus()
    conversation, ids = index_corpus(ana.tenant, texts)
    theirs = rank_bm25.BM25Okapi([lexemes(text) for text in texts], k1=1.2, b=0.75)
    wanted = theirs.get_scores(lexemes(word))
    found = scores_in_sql(conversation, word)
    n, df = len(texts), len(found)
    odds = (n - df + 0.5) / (df + 0.5)
    factor = math.log(1 + odds) / math.log(odds)
    ours = [found.get(memory_id, 0.0) for memory_id in ids]
    assert ours == pytest.approx((factor * wanted).tolist(), rel=1e-9)


def test_words_alone_find_memories_that_have_no_vector(ana: Agent) -> None:
    conversation, ids = index_corpus(ana.tenant, corpus())
    found = search(
        in_one(conversation),
        make_question(
            "berlin office",
            shelves=(MemoryKind.FACT,),
            fact_limit=3,
            episode_limit=1,
            now=NOW,
        ),
    )
    assert found[0].memory_id == ids[8]
    assert (found[0].lexical_rank, found[0].vector_rank) == (1, None)

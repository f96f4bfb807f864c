"""What the retrieve calls answer, in which form, and what they leave behind."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodic.models import Conversation
from memoryproject.text.tokens import count_tokens
from retrieval.models import Retrieval
from semantic.engines import Category
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db

MARKDOWN = "text/markdown; charset=utf-8"
ASKING = ["retrieve_memory", "retrieve_memory/raw", "context_pre_retrieve"]
QUERY = "Where is Mira moving and what does she train for?"


def ask(agent: Agent, call: str, conversation: uuid.UUID, query: str = QUERY, **fields: Any) -> Any:
    body = {"conversation_id": str(conversation), "query": query, **fields}
    answer = agent.post(call, body)
    assert answer.status_code == 200, (query[:80], answer.content[:400])
    return answer


def walk_names(value: Any) -> Iterator[str]:
    """Yield every name of every object in a JSON value."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            yield from walk_names(inner)


@pytest.mark.parametrize("call", ["retrieve_memory", "context_pre_retrieve", "recent_memory"])
@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/html", "x", "*/*;q=0"])
def test_markdown_comes_whatever_is_accepted(
    ana: Agent, conversation: uuid.UUID, call: str, accept: str | None
) -> None:
    body = {"conversation_id": str(conversation)} | ({"query": "x"} if call in ASKING else {})
    headers = {} if accept is None else {"Accept": accept}
    answer = ana.post(call, body, **headers)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["Content-Type"] == MARKDOWN
    refused = ana.post(call, {}, **headers)
    assert refused["Content-Type"] == "application/json"


def test_an_answer_with_text_is_markdown_too(ana: Agent, told: uuid.UUID) -> None:
    answer = ask(ana, "retrieve_memory", told)
    assert answer["Content-Type"] == MARKDOWN
    text = answer.content.decode()
    assert text.startswith("## Semantic Memory\n- [")
    assert "\n\n## Episodic Memories\n\n### " in text
    assert " [rank: 1, score: 0.0" in text
    assert text.endswith("\n") and "\n\n\n" not in text


def test_of_an_unknown_conversation_nothing_is_known_and_it_is_not_made(ana: Agent) -> None:
    conversation = uuid.uuid4()
    assert ask(ana, "retrieve_memory", conversation).content == b""
    assert ask(ana, "context_pre_retrieve", conversation).content == b""
    raw = ask(ana, "retrieve_memory/raw", conversation).json()
    assert (raw["semantic"], raw["episodic"], raw["sources"]) == ([], [], {})
    assert (raw["indexed_through_seq"], raw["pending"], raw["degraded"]) == (0, 0, None)
    assert not Conversation.across_tenants.filter(external_id=conversation).exists()


def test_headers_tell_of_the_receipt_and_the_progress(ana: Agent, told: uuid.UUID) -> None:
    ana.say(told, "One more thing.")
    for call in ASKING:
        answer = ask(ana, call, told)
        assert Retrieval.objects.of(ana.tenant).filter(id=answer["Memory-Receipt"]).exists()
        assert (answer["Memory-Indexed-Through"], answer["Memory-Pending"]) == ("16", "1")
        assert "Memory-Degraded" not in answer


def test_no_answer_holds_an_embedding(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told)}
    answers = [
        ask(ana, "retrieve_memory/raw", told),
        ana.post("recent_memory/raw", body),
        *(ana.get(name, **body) for name in ("messages", "episodes", "facts", "retrievals")),
    ]
    for answer in answers:
        names = set(walk_names(answer.json()))
        assert names and not names & {"embedding", "embeddings"}


def test_limits_are_kept(ana: Agent, told: uuid.UUID) -> None:
    everything = ask(ana, "retrieve_memory/raw", told).json()
    assert len(everything["semantic"]) > 2 and len(everything["episodic"]) == 2
    for limit in (1, 2):
        some = ask(
            ana, "retrieve_memory/raw", told, semantic_limit=limit, episodic_limit=limit
        ).json()
        assert some["semantic"] == everything["semantic"][:limit]
        assert [e["id"] for e in some["episodic"]] == [
            e["id"] for e in everything["episodic"][:limit]
        ]


def test_the_largest_limits_and_null_in_optional_fields_are_taken(
    ana: Agent, told: uuid.UUID
) -> None:
    usual = ask(ana, "retrieve_memory", told).content
    absent = dict.fromkeys(("episodic_limit", "semantic_limit", "detail", "category", "max_tokens"))
    assert ask(ana, "retrieve_memory", told, **absent).content == usual
    ask(ana, "retrieve_memory", told, episodic_limit=100, semantic_limit=200)


@pytest.mark.parametrize("call", ASKING)
def test_a_category_leaves_its_own_facts_only(ana: Agent, told: uuid.UUID, call: str) -> None:
    held = set(Fact.objects.of(ana.tenant).values_list("category", flat=True))
    assert len(held) > 1
    for category in Category:
        answer = ask(ana, call, told, category=category.value)
        if call == "retrieve_memory/raw":
            found = [fact["category"] for fact in answer.json()["semantic"]]
        else:
            bullets = answer.content.decode().partition("## Episodic")[0].splitlines()[1:]
            found = [line[3 : line.index("]")] for line in bullets if line]
        assert set(found) == held & {category.value}


def test_the_level_of_detail_is_kept(ana: Agent, told: uuid.UUID) -> None:
    counts = {
        detail: ask(ana, "retrieve_memory", told, detail=detail).content.count(b"**Details:**")
        for detail in ("none", "low", "auto", "high")
    }
    assert counts["none"] == 0 and counts["high"] == 2
    assert counts["none"] <= counts["low"] <= counts["auto"] <= counts["high"]


def test_context_has_facts_only_and_awaits_no_review(ana: Agent, told: uuid.UUID) -> None:
    text = ask(ana, "context_pre_retrieve", told).content.decode()
    assert text.startswith("## Semantic Memory\n- [")
    assert "Episodic" not in text and "###" not in text
    assert text.strip() in ask(ana, "retrieve_memory", told).content.decode()
    by_kind = {row.kind: row.reviewable for row in Retrieval.objects.of(ana.tenant)}
    assert by_kind == {"context": False, "retrieve": True}


def test_context_passes_over_the_fields_of_episodes_whatever_they_hold(
    ana: Agent, told: uuid.UUID
) -> None:
    usual = ask(ana, "context_pre_retrieve", told).content
    for given in (0, -1, "many", None, [], {"a": 1}, True, 10**30):
        fields = {"episodic_limit": given, "detail": given}
        assert ask(ana, "context_pre_retrieve", told, **fields).content == usual
    body = {"conversation_id": str(told), "query": "x", "detail": "auto", "Detail": "auto"}
    assert_problem(ana.post("context_pre_retrieve", body), 400, "Detail")


@pytest.mark.parametrize("call", ["retrieve_memory", "context_pre_retrieve"])
def test_an_answer_never_counts_more_than_its_budget(
    ana: Agent, told: uuid.UUID, call: str
) -> None:
    sizes = []
    for budget in (1, 10, 50, 200, 1000):
        text = ask(ana, call, told, max_tokens=budget).content.decode()
        sizes.append(count_tokens(text))
        assert sizes[-1] <= budget
    assert sizes[0] == 0 and sizes[2] > 0 and sizes == sorted(sizes)


HARD_QUERIES = [
    "&", "|", "!", "(", ")", ":", "*", "'", '"', "\\", "<->", "a & | ! b", "!!x", "((((", "a:*",
    "moving:*A & !Rotterdam", "it's", "\\'; DROP TABLE x; --",
    "\\\\\\", "a\\", "%", "_", "%%s %(x)s",
    "100% of_it", "$1 $$ ${x}", "{} {0}",
    "👩‍👩‍👧‍👦", "👍🏽🇧🇪", "מה עם רוטרדם?",
    "\u202eRotterdam\u202c", "\u200b",
    "\u200b\u200c\u200d\ufeff", "Rot\u200bterdam", "e\u0301",
    "罗特丹在哪里?", "ロッテルダム", "로테르담",
    "รอตเตอร์ดาม", "?", ".", "...", "-", "--", "0", "null",
    "the", "is it", "1e400", "\x01\x1b", "\uffff",
    "\U0010ffff", "(a+)+$ " * 10,
    "https://x.example/?a=b&c=d#e", "a@b.example", "a/b/c",
]  # fmt: skip


@pytest.mark.gate
def test_any_text_is_a_query(ana: Agent, told: uuid.UUID) -> None:
    for query in HARD_QUERIES:
        for call in ASKING:
            ask(ana, call, told, query)


def test_a_query_may_be_long(ana: Agent, told: uuid.UUID) -> None:
    ask(ana, "retrieve_memory", told, "Where? " * 500)


def test_a_query_may_be_as_long_as_a_message(ana: Agent, conversation: uuid.UUID) -> None:
    for unit in ("x", "é", "漢", "👍"):
        query = unit * (settings.MAX_CONTENT_BYTES // len(unit.encode()))
        ask(ana, "retrieve_memory", conversation, query)


@pytest.fixture(scope="module")
def told_much(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation of twelve episodes."""
    said = [
        message
        for week in range(6)
        for lines, start in ((MOVING, MORNING), (RUNNING, EVENING))
        for message in messages(
            [(name, f"{text} ({week})") for name, text in lines],
            start.replace(day=start.day + week),
        )
    ]
    said.sort(key=lambda message: str(message["timestamp"]))
    body = {"conversation_id": str(conversation), "messages": said}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    return conversation


def test_more_hits_take_no_more_queries(ana: Agent, told_much: uuid.UUID) -> None:
    counts, hits = [], []
    ask(ana, "retrieve_memory/raw", told_much)  # so that the key's last use is written
    for limit in (1, 20):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            limits = {"semantic_limit": limit, "episodic_limit": limit}
            raw = ask(ana, "retrieve_memory/raw", told_much, **limits).json()
        counts.append(len(queries))
        hits.append(len(raw["semantic"]) + len(raw["episodic"]))
    assert hits[0] == 2 and hits[1] > 12
    assert counts[0] == counts[1] <= 20

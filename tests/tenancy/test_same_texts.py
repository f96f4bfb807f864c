"""Two tenants say the same in conversations of the same id: no answer mixes them, by any leg."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps import apps

from episodic.models import Conversation
from indexing.models import Memory, MemoryKind, SearchUnit, UnitKind
from indexing.tenant_search import Scope, find, read_query
from jobs.draining import drain_jobs
from jobs.models import LLMCall
from memoryproject.ai import embeddings
from memoryproject.tenancy.models import TenantModel
from retrieval.hits import Finding, Hit
from retrieval.scope import in_one
from retrieval.search import in_conversation, in_tenant
from retrieval.search.in_conversation import Meaning
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import model as model
from tests.model_server import ModelServer, says
from tests.retrieval.searches import make_question
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db

QUERY = "Where does Mira move with her heavy piano?"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def tell(agent: Agent, talk: uuid.UUID) -> None:
    body = {"conversation_id": str(talk), "messages": whole_talk()}
    assert agent.post("add_messages", body).status_code == 201
    assert agent.flush(talk).dead == 0
    assert agent.post("notes", {"content": "Mira owns a heavy piano."}).status_code == 201
    assert drain_jobs().dead == 0


def owned(agent: Agent) -> set[str]:
    """Return the ids of all rows of an agent's tenant."""
    models = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    return {
        str(one) for model in models for one in model.objects.of(agent.tenant).values_list(
            "id", flat=True)
    }  # fmt: skip


LEGS = {"words": (QUERY, False), "vectors": ("", True), "both": (QUERY, True)}


def ask_leg(agent: Agent, talk: uuid.UUID, leg: str) -> list[Hit]:
    """Search one conversation, past the walls of the connection: the statement's own must do."""
    words, by_meaning = LEGS[leg]
    conversation = Conversation.objects.of(agent.tenant).get(external_id=talk)
    question = make_question(
        words,
        vector=embeddings.embed_query(QUERY) if by_meaning else None,
        model=embeddings.get_embedder().name,
        shelves=(MemoryKind.FACT, MemoryKind.EPISODE),
        fact_limit=200,
        episode_limit=100,
        now=datetime(2026, 11, 1, tzinfo=UTC),
        explain=True,
        line_limit=20,
    )
    return in_conversation.search(in_one(conversation), question)


def plain(found: list[Hit]) -> list[Hit]:
    """Return what was found without what changes as time goes by."""
    return [replace(one, score=0.0, retrievability=0.0) for one in found]


def test_no_leg_finds_a_strangers_memory_or_counts_one(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation)
    before = {leg: ask_leg(ana, conversation, leg) for leg in LEGS}
    tell(cleo, conversation)
    hers = set(Memory.objects.of(ana.tenant).values_list("id", flat=True))
    for leg in LEGS:
        after = ask_leg(ana, conversation, leg)
        assert plain(after) == plain(before[leg]), leg
        assert after and {found.memory_id for found in after} <= hers, leg
        theirs = {found.memory_id for found in ask_leg(cleo, conversation, leg)}
        assert theirs and not theirs & hers, leg


SEARCHES = [(QUERY, True), (QUERY, False), ("piano", True), ("piano", False), ("*", False)]
"""What is searched for in the whole tenant, and whether by meaning too."""


def find_all(agent: Agent, query: str, *, by_meaning: bool) -> tuple[list[Finding], int]:
    request = in_tenant.SearchRequest(query=query, max_results=100)
    meaning = Meaning()
    if by_meaning:
        meaning = Meaning(embeddings.embed_query(query), embeddings.get_embedder().name)
    return in_tenant.find_with(tenant=agent.tenant, request=request, meaning=meaning)


def test_no_search_of_a_tenant_finds_a_strangers_memory_or_counts_one(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation)
    before = [find_all(ana, query, by_meaning=meaning) for query, meaning in SEARCHES]
    tell(cleo, conversation)
    for (query, meaning), (found, total) in zip(SEARCHES, before, strict=True):
        assert find_all(ana, query, by_meaning=meaning) == (found, total), query
        theirs = {one.memory_id for one in find_all(cleo, query, by_meaning=meaning)[0]}
        assert theirs and not theirs & {one.memory_id for one in found}, query


def test_a_search_by_words_for_people_keeps_to_the_tenant_it_is_given(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation)
    tell(cleo, conversation)
    for agent in (ana, cleo):
        own = set(SearchUnit.objects.of(agent.tenant).values_list("memory_id", flat=True))
        scope = Scope(tenant_id=agent.tenant.id)
        for kind in (UnitKind.MESSAGE, UnitKind.FACT, UnitKind.NOTE):
            matches = find(read_query("piano"), kind=kind, scope=scope).found
            assert matches and {match.memory_id for match in matches} <= own


CALLS: dict[str, dict[str, Any]] = {
    "retrieve_memory": {"query": QUERY, "explain": True},
    "retrieve_memory/raw": {"query": QUERY, "explain": True, "min_seq": 16},
    "context_pre_retrieve": {"query": QUERY, "explain": True},
    "recent_memory": {},
    "recent_memory/raw": {},
    "search": {"query": QUERY, "max_hops": 3},
    "reconstruct_context": {"query": QUERY, "since": "2020-01-01T00:00:00Z"},
}


def test_no_answer_names_a_strangers_row_whoever_asked_before(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    """The same question by both in a row: what is kept of it by one must not serve the other."""
    tell(ana, conversation)
    tell(cleo, conversation)
    of_others = {"ana": owned(cleo), "cleo": owned(ana)}
    for call, fields in CALLS.items():
        for agent in (ana, cleo, ana):
            answer = agent.post(call, {**fields, "conversation_id": str(conversation)})
            assert answer.status_code == 200 and b"piano" in answer.content, (call, answer.content)
            named = set(UUID.findall(answer.content.decode()))
            assert not named & of_others[agent.key.name], call


def test_an_answer_of_the_model_is_kept_for_one_tenant(
    model: ModelServer, ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    """The messages are the same, word by word; the fences around them are not."""
    talk = {"conversation_id": str(conversation), "messages": whole_talk()[:8]}
    for title, agent in (("Ana's own", ana), ("Cleo's own", cleo)):
        model.script("segment", says(segments(segment(7, title))))
        model.script("consolidate", says(changes()))
        assert agent.post("add_messages", talk).status_code == 201
        agent.flush(conversation)
    assert len(model.requests("segment")) == 2
    hashes = [
        set(LLMCall.objects.of(agent.tenant).filter(purpose="segment").values_list(
            "request_sha256", flat=True))
        for agent in (ana, cleo)
    ]  # fmt: skip
    assert len(hashes[0]) == len(hashes[1]) == 1 and not hashes[0] & hashes[1]
    shown = cleo.get("episodes").json()["items"]
    assert [episode["title"] for episode in shown] == ["Cleo's own"]

"""Short ways to search, and something to search in."""

from __future__ import annotations

import uuid
from dataclasses import fields
from typing import Any

from retrieval.models import Retrieval
from retrieval.request import RecallRequest
from retrieval.search.in_conversation import Meaning, Question
from tests.conftest import Agent
from tests.notes.graphs import write

THREAD = {
    "platform": "instagram",
    "participant_count": 2,
    "message_count": 10,
    "key_points": ["User asked about pricing", "Interested in premium plan"],
    "sentiment": "positive",
    "last_activity_at": "2026-05-03T10:00:00Z",
}
PLAN = {
    "plan_type": "content_calendar",
    "total_nodes": 10,
    "completed_nodes": 5,
    "pending_nodes": 5,
    "failed_nodes": 0,
    "key_milestones": ["Week 1 complete"],
    "current_phase": "execution",
}


def make_question(words: str, **values: Any) -> Question:
    """Return what to search for, from values of the question and of the request in it."""
    names = {field.name for field in fields(RecallRequest)}
    options = {name: values.pop(name) for name in names & values.keys()}
    request = RecallRequest(words, uuid.uuid4(), Retrieval.Kind.RETRIEVE, **options)
    meaning = Meaning(values.pop("vector", None), values.pop("model", ""))
    usual = {"meaning": meaning, "fact_limit": 20, "episode_limit": 5}
    return Question(request=request, **{**usual, **values})


def fill(agent: Agent) -> dict[str, str]:
    """Write a thread's summary, a plan's and two references; return the ids by name."""
    thread = agent.post("notes", {"source_type": "thread_summary", "metadata": THREAD})
    plan = agent.post("notes", {"source_type": "plan_summary", "metadata": PLAN})
    faq = write(
        agent,
        "Frequently asked questions about pricing and features",
        source_type="knowledge_base", source_id="kb-1", label="Product FAQ", importance=0.9,
        user_id="user-1", category="sales", tags=["faq", "prices"], emotion_valence="neutral",
        occurred_at="2026-05-02T10:00:00Z",
    )  # fmt: skip
    kettle = write(agent, "The kettle sings.", importance=0.2, occurred_at="2026-05-01T10:00:00Z")
    return {"thread": thread.json()["id"], "plan": plan.json()["id"], "faq": faq, "kettle": kettle}


def search(agent: Agent, query: str, **fields: Any) -> dict[str, Any]:
    """Search and return the answer's body."""
    answer = agent.post("search", {"query": query, **fields})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def found(agent: Agent, query: str, **fields: Any) -> list[str]:
    """Search and return the ids of the items, in order."""
    return [item["id"] for item in search(agent, query, **fields)["items"]]

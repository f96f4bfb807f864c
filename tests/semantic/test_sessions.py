"""What a user says in one chat after the other is known once, the newest first."""

from __future__ import annotations

import uuid

import pytest

from semantic.models import Evidence, Fact
from semantic.offline.quotations import parse_quote
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

SESSIONS = {
    "2026-06-01": ["Our team lead is Maria.", "I'm allergic to peanuts.", "I live in Oslo."],
    "2026-07-01": ["Our team lead is Maria.", "I am allergic to peanuts."],
    "2026-08-01": ["I'm allergic to peanuts!", "Our team lead is Maria."],
    "2026-11-01": ["Jonas is our team lead now.", "I'm allergic to peanuts."],
}


def tell(agent: Agent, day: str, said: list[str], **speaker: str) -> None:
    """Have a conversation of its own on a day, and learn from it."""
    conversation = uuid.uuid4()
    lines = [
        {"role": "user", "content": line, "timestamp": f"{day}T10:0{place}:00Z", **speaker}
        for place, line in enumerate(said)
    ]
    body = {"conversation_id": str(conversation), "user_id": "nora", "messages": lines}
    assert agent.post("add_messages", body).status_code == 201
    drained = agent.flush(conversation)
    assert (drained.later, drained.dead) == (0, 0)


@pytest.mark.parametrize(
    ("days", "speaker"),
    [([*SESSIONS], {}), ([*SESSIONS][::-1], {"name": "Nora"})],
    ids=["in order", "backwards"],
)
def test_sessions_of_a_user_make_one_memory(
    ana: Agent, days: list[str], speaker: dict[str, str]
) -> None:
    for day in days:
        tell(ana, day, SESSIONS[day], **speaker)
    facts = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    (allergy,) = facts.filter(fact__icontains="allergic")
    assert Evidence.objects.of(ana.tenant).filter(fact=allergy, withdrawn_by=None).count() == 4
    (maria,) = facts.filter(fact__icontains="maria")
    (jonas,) = facts.filter(fact__icontains="jonas")
    body = {"scope": "user", "user_id": "nora", "query": "Who leads the team?", "max_tokens": 500}
    answer = ana.post("retrieve_memory", body).content.decode()
    for fact in (allergy, maria, jonas):
        quotation = parse_quote(fact.fact)
        assert quotation is not None and quotation[1] in answer, "as a fact, or in a line"

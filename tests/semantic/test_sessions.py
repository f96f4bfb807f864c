"""What a user says in one chat after the other is known once, the newest first."""

from __future__ import annotations

import uuid

import pytest

from semantic.models import Evidence, Fact, Suggestion
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

SESSIONS = {
    "2026-06-01": ["I live in Oslo.", "I'm allergic to peanuts.", "My name is Nora Berg."],
    "2026-07-01": ["I live in Oslo, you know.", "I am allergic to peanuts."],
    "2026-08-01": ["I'm allergic to peanuts!", "I live in Oslo."],
    "2026-11-01": ["I moved to Rome last week.", "I'm allergic to peanuts."],
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
    """Who has told his name once is called by it in all that follows."""
    for day in days:
        tell(ana, day, SESSIONS[day], **speaker)
    facts = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    (allergy,) = facts.filter(fact__icontains="allergic")
    assert Evidence.objects.of(ana.tenant).filter(fact=allergy, withdrawn_by=None).count() == 4
    (oslo,) = facts.filter(fact__icontains="oslo")
    (rome,) = facts.filter(fact__icontains="rome")
    (row,) = Suggestion.objects.of(ana.tenant)
    assert (row.old_fact, row.new_fact) == (oslo, rome)
    body = {"scope": "user", "user_id": "nora", "query": "Where does Nora live?", "max_tokens": 500}
    answer = ana.post("retrieve_memory", body).content.decode()
    assert 0 <= answer.index(rome.fact) < answer.index(oslo.fact)
    assert answer.count(allergy.fact) == 1

"""What was true and what was believed, in every call that asks about another moment."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import pytest

from jobs.draining import drain_jobs
from memoryproject.database.clock import read_database_clock
from semantic.models import Fact
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.notes.graphs import write

pytestmark = pytest.mark.django_db(transaction=True)

THREE = 'Mira: "I keep three dogs."'
TWO = "Mira keeps two dogs."


@pytest.fixture
def corrected(ana: Agent, conversation: uuid.UUID) -> tuple[datetime, datetime]:
    """Moments before and after a fact was corrected; then came another episode and a note."""
    # The greeting is no part of the fact, so the message and the fact have different words.
    ana.say(conversation, "Hi! I keep three dogs.", name="Mira")
    ana.flush(conversation)
    fact = Fact.objects.of(ana.tenant).get(invalid_at=None)
    assert fact.fact == THREE
    before = read_database_clock()
    body = {"fact": TWO, "reason": "She says so."}
    assert ana.post(f"facts/{fact.id}/correct", body).status_code == 201
    after = read_database_clock()
    ana.say(conversation, "My dogs bark at night.", name="Mira")
    ana.flush(conversation)
    write(ana, "Dogs of the neighbours.")
    return before, after


def ask(agent: Agent, call: str, **body: Any) -> Any:
    answer = agent.post(call, {"query": "How many dogs does Mira keep?", **body})
    assert answer.status_code == 200, answer.content
    return answer


def text_of(answer: Any) -> str:
    """Return what an answer says, with quotation marks as facts have them also where it is JSON."""
    return str(answer.content.decode()).replace('\\"', '"')


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        ("retrieve_memory", {"max_tokens": 300}),
        ("retrieve_memory/raw", {"explain": True}),
        ("context_pre_retrieve", {}),
    ],
)
def test_an_answer_is_what_was_believed_then(
    call: str,
    extra: dict[str, Any],
    ana: Agent,
    conversation: uuid.UUID,
    corrected: tuple[datetime, datetime],
) -> None:
    before, after = (moment.isoformat() for moment in corrected)
    place = {"conversation_id": str(conversation), **extra}
    then = text_of(ask(ana, call, **place, known_at=before))
    assert "three dogs" in then and TWO not in then and "bark" not in then
    later = text_of(ask(ana, call, **place, known_at=after))
    assert TWO in later and THREE not in later and "bark" not in later
    now = text_of(ask(ana, call, **place))
    assert TWO in now and THREE not in now
    said = ana.get("messages", conversation_id=str(conversation)).json()["items"][0]["timestamp"]
    both = text_of(ask(ana, call, **place, known_at=before, as_of=said))
    assert "three dogs" in both and TWO not in both
    early = ask(ana, call, **place, known_at=before, as_of="2020-01-01T00:00:00")
    assert "three dogs" not in text_of(early) and TWO not in text_of(early)
    receipt = early.headers["Memory-Receipt"]
    kept = ana.get(f"retrievals/{receipt}").json()["parameters"]
    assert datetime.fromisoformat(kept["known_at"]) == corrected[0]


@pytest.mark.parametrize("query", ["How many dogs does Mira keep?", "*"])
def test_a_search_of_the_tenant_is_what_was_believed_then(
    query: str, ana: Agent, cleo: Agent, corrected: tuple[datetime, datetime]
) -> None:
    before, after = (moment.isoformat() for moment in corrected)

    def found(agent: Agent, **body: Any) -> str:
        return text_of(ask(agent, "search", query=query, **body))

    then = found(ana, known_at=before)
    assert THREE in then and TWO not in then and "bark" not in then and "neighbours" not in then
    later = found(ana, known_at=after)
    assert TWO in later and THREE not in later and "neighbours" not in later
    now = found(ana)
    assert TWO in now and THREE not in now and "neighbours" in now
    assert TWO in found(ana, as_of=read_database_clock().isoformat())
    for agent, moment in (
        (ana, {"as_of": "2020-01-01T00:00"}),
        (ana, {"known_at": "2020-01-01T00:00"}),
        (cleo, {"known_at": after}),
    ):
        assert '"items":[]' in found(agent, **moment)


def test_episodes_are_those_that_there_were(
    ana: Agent, conversation: uuid.UUID, corrected: tuple[datetime, datetime]
) -> None:
    place = {"conversation_id": str(conversation)}
    (first, *_), then = (
        [item["id"] for item in ana.get("episodes", **place, **moment).json()["items"]]
        for moment in ({}, {"known_at": corrected[0].isoformat()})
    )
    assert len(then) == 1 and first not in then
    wrong = {"conversation_id": str(conversation), "since": corrected[1].isoformat()}
    late = read_database_clock().isoformat()
    assert ana.post("rollbacks", {**wrong, "reason": "A test."}).status_code == 201
    drain_jobs()
    now = [item["id"] for item in ana.get("episodes", **place).json()["items"]]
    known = [item["id"] for item in ana.get("episodes", **place, known_at=late).json()["items"]]
    assert first not in now and first in known

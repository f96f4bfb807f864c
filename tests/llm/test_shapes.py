"""The whole pipeline against each kind of server, and what is learnt about it on the way."""

from __future__ import annotations

import logging
import re
import uuid

import pytest

from episodic.models import Episode, Review
from jobs.models import LLMCall
from semantic.models import Changeset, Fact
from tests.conftest import Agent
from tests.dialects import DIALECTS, READ, WRITTEN, Dialect, form_of
from tests.llm.answers import change, changes, ratings, segment, segments, shown_memories
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply
from tests.talk import EVENING, RUNNING, messages

pytestmark = pytest.mark.django_db

NUMBERED = re.compile(r"^(\d+) \[\w{3} \d{4}-\d\d-\d\d", re.MULTILINE)
HARBOUR = "Mira works at the harbour authority in Rotterdam."
FENCED = re.compile(r"^(=== \w+ ===)$(.*)^\1$", re.MULTILINE | re.DOTALL)
"""Where a server takes no role of the system, the instructions stand before it."""
RUNS = "Mira runs three times a week."
CANARIES = ["Rotterdam", "Priya", "key-of-the-provider"]


def name_question(asked: Asked) -> str:
    """Return which question a prompt puts, whatever form its answer is asked for in."""
    told = asked.body["messages"][0]["content"]
    opening = {"segment": "You divide", "consolidate": "You keep", "review": "An assistant"}
    return next(name for name, words in opening.items() if told.startswith(words))


def answer_in(dialect: Dialect, asked: Asked) -> Reply:
    """Answer any question well, in the server's own shape."""
    told = Asked(asked.purpose, {"messages": [{}, asked.body["messages"][-1]]})
    numbers = [int(number) for number in NUMBERED.findall(FENCED.findall(told.user)[0][1])]
    match name_question(asked):
        case "segment":
            return dialect.says(segments(segment(numbers[-1])))
        case "consolidate":
            fact = HARBOUR if numbers[0] == 1 else RUNS
            return dialect.says(changes(change("new", fact, messages=[numbers[0] + 1])))
        case _:
            return dialect.says(ratings(**dict.fromkeys(shown_memories(told).values(), "good")))


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest, model: ModelServer) -> Dialect:
    found: Dialect = request.param
    model.refuse(found.gate)
    for purpose in ("segment", "consolidate", "review", "plain"):
        model.always(purpose, lambda asked: answer_in(found, asked))
    return found


@pytest.mark.gate
def test_the_pipeline_works_with_every_kind_of_server(
    dialect: Dialect,
    model: ModelServer,
    ana: Agent,
    talk: uuid.UUID,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    ana.flush(talk)
    ask = {"conversation_id": str(talk), "query": "Where does Mira move?"}
    assert ana.post("retrieve_memory", ask).status_code == 200
    post(ana, talk, messages(RUNNING, EVENING))
    drained = ana.flush(talk)
    assert (drained.later, drained.dead) == (0, 0)

    check_what_was_made(ana)
    check_what_was_asked(dialect, model)
    check_the_bill(ana, questions=5)
    assert not [canary for canary in CANARIES if canary in caplog.text]


def check_what_was_made(ana: Agent) -> None:
    episodes = Episode.objects.of(ana.tenant).order_by("first_seq")
    assert [(e.last_seq, e.engine, e.degraded) for e in episodes] == [
        (8, "llm", False),
        (16, "llm", False),
    ]
    assert {fact.fact for fact in Fact.objects.of(ana.tenant)} == {HARBOUR, RUNS}
    assert not Changeset.objects.of(ana.tenant).filter(degraded=True).exists()
    assert [row.rating for row in Review.objects.of(ana.tenant)] == ["good"]


def check_what_was_asked(dialect: Dialect, model: ModelServer) -> None:
    """The first question is put until it is taken; all others once, in that form."""
    assert len(model.asked) == dialect.learning + 4
    for asked in model.asked[dialect.learning - 1 :]:
        assert asked.body.keys() == dialect.learnt
        assert form_of(asked.body) == dialect.form
        assert tuple(message["role"] for message in asked.body["messages"]) == dialect.roles
        told = asked.body["messages"][0]["content"]
        assert ("JSON schema" in told) == (dialect.form != "json_schema")
        assert asked.body.get("temperature", 0) == 0


def check_the_bill(ana: Agent, *, questions: int) -> None:
    calls = LLMCall.objects.of(ana.tenant)
    counted = set(calls.values_list("ok", "input_tokens", "output_tokens"))
    assert calls.count() == questions
    assert counted == {(True, READ, WRITTEN)}

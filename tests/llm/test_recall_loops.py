"""A model that takes our own words for news: what it says of them is left undone."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db.models.functions import Now

from episodic import segmentation
from episodic.choice import make_segmenter
from jobs import claims
from jobs.calls import make_asker
from jobs.draining import drain_jobs
from jobs.models import Job, State
from retrieval import receipts, serving
from semantic import consolidation
from semantic.choice import make_consolidator
from semantic.engines import Consolidation, Consolidator, EpisodeText, KnownFact
from semantic.models import Change, Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments, shown_facts
from tests.llm.conftest import flush_job
from tests.model_server import Asked, ModelServer, Reply, says

pytestmark = pytest.mark.django_db

LIVES = "Ana lives in Porto."
MONDAY = "2026-03-02T09:00:00Z"
LATER = "2026-04-06T09:00:00Z"
Row = dict[str, Any] | Callable[[dict[str, str]], dict[str, Any]]


def answer(*rows: Row) -> Callable[[Asked], Reply]:
    """Answer with changes; one that is callable is given the aliases of the facts shown."""

    def reply(asked: Asked) -> Reply:
        alias = shown_facts(asked)
        return says(changes(*(row(alias) if callable(row) else row for row in rows)))

    return reply


@pytest.fixture
def told(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation in which Ana told where she lives, and which was asked about it."""
    ana.say(conversation, "I live in Porto.", name="Ana", timestamp=MONDAY)
    ana.say(conversation, "I left Lisbon last week.", name="Ana", timestamp=MONDAY)
    script(model, 2, change("new", LIVES, category="identity", messages=[1]))
    ana.flush(conversation)
    model.always("review", says({"ratings": []}))
    ask(ana, conversation)
    return conversation


def script(model: ModelServer, count: int, *rows: Row) -> None:
    model.script("segment", says(segments(segment(0, count - 1))))
    model.script("consolidate", answer(*rows))


def ask(agent: Agent, conversation: uuid.UUID) -> str:
    body = {"conversation_id": str(conversation), "query": "Where does Ana live?", "detail": "high"}
    served = agent.post("retrieve_memory", body).content.decode()
    assert LIVES in served
    return str(served)


def say_back(agent: Agent, conversation: uuid.UUID, content: str, role: str = "assistant") -> None:
    agent.say(conversation, content, role=role, timestamp=LATER)


def steps(agent: Agent) -> list[tuple[str, str]]:
    newest = Changeset.objects.of(agent.tenant).latest("started_at", "id")
    taken = Change.objects.of(agent.tenant).filter(changeset=newest).order_by("position")
    return list(taken.values_list("action", "note"))


def evidence(agent: Agent, fact: str) -> list[list[int]]:
    rows = Evidence.objects.of(agent.tenant).filter(fact__fact=fact)
    return list(rows.order_by("message_seqs").values_list("message_seqs", flat=True))


def confirm(alias: dict[str, str]) -> dict[str, Any]:
    return change("reinforce", "Ana resides in Porto.", alias[LIVES], messages=[3])


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_an_echo_is_not_new_whatever_the_model_says(
    role: str, model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    say_back(ana, told, "As you live in Porto, take an umbrella.", role)
    rows = [
        change("new", LIVES, category="identity", messages=[3]),
        change("new", "The user lives in Porto.", category="experience", messages=[3]),
        confirm,
        change("update", LIVES, "F1", category="identity", messages=[3]),
        change("new", "Ana needs an umbrella.", messages=[3]),
    ]
    script(model, 1, *rows)
    ana.flush(told)
    assert steps(ana) == [("skip", "echo")] * 4 + [("new", "")]
    assert evidence(ana, LIVES) == [[1]]
    assert Fact.objects.of(ana.tenant).count() == 2
    skipped = Change.objects.of(ana.tenant).filter(note="echo").values_list("memory_id", flat=True)
    assert set(skipped) == {Fact.objects.of(ana.tenant).get(fact=LIVES).id}


def test_a_user_who_confirms_is_evidence_and_the_echo_beside_is_none(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    say_back(ana, told, "You live in Porto, don't you.")
    ana.say(told, "Yes, exactly.", name="Ana", timestamp=LATER)
    script(model, 2, lambda alias: change("reinforce", LIVES, alias[LIVES], messages=[3, 4]))
    ana.flush(told)
    assert steps(ana) == [("reinforce", "")]
    assert evidence(ana, LIVES) == [[1], [4]]


def test_an_episode_told_again_is_no_fact_of_today(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    """The model dates what was said weeks ago by the day on which it is repeated."""
    say_back(ana, told, "You left Lisbon last week.")
    script(model, 1, change("new", "Ana left Lisbon in March 2026.", messages=[3]))
    ana.flush(told)
    assert steps(ana) == [("skip", "echo")]
    assert Fact.objects.of(ana.tenant).count() == 1


def test_an_end_that_is_only_repeated_ends_nothing(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    def end(alias: dict[str, str]) -> dict[str, Any]:
        return change("invalidate", LIVES, alias[LIVES], category="identity", messages=[3])

    say_back(ana, told, "You left Lisbon last week.")
    script(model, 1, end)
    ana.flush(told)
    assert steps(ana) == [("skip", "echo")]


def test_an_end_that_is_news_ends_it(model: ModelServer, ana: Agent, told: uuid.UUID) -> None:
    say_back(ana, told, "I cancelled your lease: you have left Porto.")
    script(model, 1, lambda alias: change("invalidate", LIVES, alias[LIVES], messages=[3]))
    ana.flush(told)
    assert steps(ana) == [("invalidate", "")]


@pytest.mark.parametrize("role", ["user", "system", "assistant", "tool"])
def test_the_model_does_not_see_what_is_quoted(
    role: str, model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    say_back(ana, told, ask(ana, told), role)
    say_back(ana, told, ask(ana, told) + "\nWhere can I eat?", "user")
    script(model, 2, change("new", LIVES, category="identity", episode="E1", messages=[]))
    ana.flush(told)
    shown = model.requests("consolidate")[-1].user
    assert "Where can I eat?" in shown
    assert [line for line in shown.splitlines() if "Porto" in line] == [
        line for line in shown.splitlines() if line.startswith("F1 [identity] Ana lives")
    ]
    assert set(steps(ana)) == {("skip", "echo")}
    assert evidence(ana, LIVES) == [[1]]


class Killed(Exception):
    """Stands for the end of the process."""


class Dying:
    """A consolidator whose process ends when the model has answered."""

    def __init__(self, consolidator: Consolidator) -> None:
        self._consolidator = consolidator

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        self._consolidator.consolidate(episodes=episodes, known=known)
        raise Killed


def test_a_run_that_is_repeated_decides_the_same(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    """Answers given meanwhile change nothing: the model is asked once, for both runs."""
    say_back(ana, told, ask(ana, told) + "\nAs you live in Porto, take an umbrella.")
    script(model, 1, change("new", LIVES, category="identity", messages=[3]))
    assert ana.post("flush", {"conversation_id": str(told)}).status_code == 202
    claim = claims.claim(flush_job(ana).id)
    assert claim is not None
    asker = make_asker(tenant=ana.tenant, job_id=claim.job_id)
    segmentation.segment_window(
        claim=claim,
        segmenter=make_segmenter(asker),
        take_reviews=receipts.take_pending_reviews,
        everything=True,
        finish=False,
    )
    with pytest.raises(Killed):
        consolidation.consolidate_batch(
            claim=claim,
            consolidator=Dying(make_consolidator(asker)),
            find_answers=serving.find_answers,
            force=True,
        )
    ask(ana, told)
    Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(lease_until=Now() - claims.LEASE)
    drain_jobs()
    assert steps(ana) == [("skip", "echo")] * 3
    assert evidence(ana, LIVES) == [[1]]
    assert len(model.requests("consolidate")) == 2

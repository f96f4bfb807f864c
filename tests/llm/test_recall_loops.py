"""A model that takes our own words for news: what it says of them is left undone."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db.models.functions import Now

from episodic import segmentation
from episodic.choice import make_segmenter
from episodic.models import Episode
from jobs import claims
from jobs.calls import Asker
from jobs.draining import drain_jobs
from jobs.models import Job, State
from retrieval.receipts import echoes
from retrieval.receipts.echoes import ECHOED_FOR
from semantic import consolidation
from semantic.choice import make_consolidator
from semantic.engines import (
    NO_INSTRUCTIONS,
    Consolidation,
    Consolidator,
    EpisodeText,
    KnownFact,
)
from semantic.models import Change, Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments, shown_facts, shown_lines
from tests.llm.conftest import flush_job
from tests.model_server import Asked, ModelServer, Reply, says

pytestmark = pytest.mark.django_db

LIVES = "Ana lives in Porto."
MOVED = "Ana lives in Braga."
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
    model.script("segment", says(segments(segment(count - 1))))
    model.script("consolidate", answer(*rows))


def make_one_episode(asked: Asked) -> Reply:
    """Answer with one episode of all the lines that the prompt shows."""
    return says(segments(segment(shown_lines(asked)[-1])))


def ask(agent: Agent, conversation: uuid.UUID, **extra: Any) -> str:
    body = {"conversation_id": str(conversation), "query": "Where does Ana live?", "detail": "high"}
    served = agent.post("retrieve_memory", body | extra).content.decode()
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
    skipped = Change.objects.of(ana.tenant).get(note="echo")
    assert skipped.memory_id == Episode.objects.of(ana.tenant).earliest("first_seq").id


def test_an_end_that_is_only_repeated_ends_nothing(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    def end(alias: dict[str, str]) -> dict[str, Any]:
        return change("invalidate", LIVES, alias[LIVES], category="identity", messages=[3])

    say_back(ana, told, "You left Lisbon last week.")
    script(model, 1, end)
    ana.flush(told)
    assert steps(ana) == [("suggest", "other_subject")], "nobody spoke of Porto"
    assert Fact.objects.of(ana.tenant).get(fact=LIVES).invalid_at is None


def test_an_end_that_is_news_ends_it(model: ModelServer, ana: Agent, told: uuid.UUID) -> None:
    say_back(ana, told, "I cancelled your lease: you have left Porto.")
    script(model, 1, lambda alias: change("invalidate", LIVES, alias[LIVES], messages=[3]))
    ana.flush(told)
    assert steps(ana) == [("invalidate", "")]


def test_an_echo_of_what_is_over_does_not_bring_it_back(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    def move(alias: dict[str, str]) -> dict[str, Any]:
        return change("update", MOVED, alias[LIVES], category="identity", messages=[3])

    ana.say(told, "I moved to Braga.", name="Ana", timestamp=LATER)
    say_back(ana, told, "You live in Porto.")
    script(model, 2, move, change("new", LIVES, category="identity", messages=[4]))
    ana.flush(told)
    assert sorted(steps(ana)) == [("skip", "echo"), ("update", "")]
    active = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    assert list(active.values_list("fact", flat=True)) == [MOVED]


@pytest.mark.gate
@pytest.mark.parametrize(("said_between", "is_echo"), [(ECHOED_FOR - 1, True), (ECHOED_FOR, False)])
def test_words_come_back_within_reach_of_the_answer(
    said_between: int, is_echo: bool, model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    """After that the agent has them from elsewhere, and they are evidence."""
    for _ in range(said_between):
        ana.say(told, "Hm.", name="Ana", timestamp=LATER)
    say_back(ana, told, "You live in Porto.")
    seq = 3 + said_between
    model.always("segment", make_one_episode)
    confirmed = change("new", LIVES, category="identity", messages=[seq])
    model.script("consolidate", answer(confirmed))
    ana.flush(told)
    assert steps(ana) == [("skip", "echo") if is_echo else ("merge", "")]
    assert evidence(ana, LIVES) == ([[1]] if is_echo else [[1], [seq]])


def test_another_tenants_answers_do_not_count(
    model: ModelServer, ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    """The stranger asks in a conversation of the same id, and is served the same."""
    for agent in (ana, cleo):
        agent.say(conversation, "I live in Porto.", name="Ana", timestamp=MONDAY)
        script(model, 1, change("new", LIVES, category="identity", messages=[1]))
        agent.flush(conversation)
    model.always("review", says({"ratings": []}))
    ask(cleo, conversation)
    for agent in (ana, cleo):
        say_back(agent, conversation, "You live in Porto.")
        script(model, 1, change("new", LIVES, category="identity", messages=[2]))
        agent.flush(conversation)
    assert evidence(ana, LIVES) == [[1], [2]]
    assert evidence(cleo, LIVES) == [[1]]


@pytest.mark.gate
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("call", ["search", "reconstruct_context"])
def test_what_the_whole_tenant_answered_is_an_echo_where_it_was_asked_for(
    call: str, is_named: bool, model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    """It comes from another conversation and from a note; without `asked_in` it is news."""
    tea = "Ana drinks green tea in the garden."
    ana.post("notes", {"content": tea})
    here = uuid.uuid4()
    ana.say(here, "What do you know of me?", name="Ana", timestamp=LATER)
    for query in (LIVES, tea):
        body = {"query": query, "asked_in": str(here) if is_named else None}
        if call == "reconstruct_context":
            body["since"] = "2000-01-01T00:00:00Z"
        served = ana.post(call, body)
        assert served.status_code == 200 and query in served.content.decode()
    say_back(ana, here, "You live in Porto.")
    say_back(ana, here, tea)
    lives = change("new", LIVES, category="identity", messages=[2])
    script(model, 3, lives, change("new", tea, category="preference", messages=[3]))
    ana.flush(here)
    assert steps(ana) == [("skip", "echo") if is_named else ("new", "")] * 2


def test_what_was_just_said_is_not_read_back(
    model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    """With `min_seq` an answer shows messages that stand in no episode yet."""
    maps = "Ana collects old maps of Braga."
    said = ana.say(told, "I collect old maps of Braga.", name="Ana", timestamp=LATER)
    assert "old maps of Braga" in ask(ana, told, min_seq=said["seq"])
    say_back(ana, told, "You collect old maps of Braga.")
    script(model, 2, change("new", maps, category="interest", messages=[3, 4]))
    ana.flush(told)
    assert steps(ana) == [("new", "")]
    assert evidence(ana, maps) == [[3]]


def test_it_works_in_chinese(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> None:
    nurse = "小明在上海一家医院当护士。"
    ana.say(conversation, "我在上海一家医院当护士。", name="小明", timestamp=MONDAY)
    script(model, 1, change("new", nurse, category="identity", messages=[1]))
    ana.flush(conversation)
    model.always("review", says({"ratings": []}))
    body = {"conversation_id": str(conversation), "query": "小明做什么工作？"}
    assert nurse in ana.post("retrieve_memory", body).content.decode()
    say_back(ana, conversation, "小明在上海一家医院当护士。")
    ana.say(conversation, "对，我养了三只猫。", name="小明", timestamp=LATER)
    cats = change("new", "小明养了三只猫。", category="identity", messages=[3])
    script(model, 2, change("new", nurse, category="identity", messages=[2]), cats)
    ana.flush(conversation)
    assert steps(ana) == [("skip", "echo"), ("new", "")]
    assert evidence(ana, nurse) == [[1]]


@pytest.mark.gate
@pytest.mark.parametrize("role", ["user", "system", "assistant", "tool"])
def test_the_model_does_not_see_what_is_quoted(
    role: str, model: ModelServer, ana: Agent, told: uuid.UUID
) -> None:
    say_back(ana, told, ask(ana, told), role)
    say_back(ana, told, ask(ana, told) + "\nWhere can I eat?", "user")
    script(model, 2, change("new", LIVES, category="identity", messages=[]))
    ana.flush(told)
    shown = model.requests("consolidate")[-1].user
    assert "Where can I eat?" in shown
    assert [line for line in shown.splitlines() if "Porto" in line] == [
        line for line in shown.splitlines() if line.startswith("F1 [identity] Ana lives")
    ]
    assert set(steps(ana)) == {("skip", "echo"), ("skip", "no_source")}
    assert evidence(ana, LIVES) == [[1]]


class Killed(Exception):
    """Stands for the end of the process."""


class Dying:
    """A consolidator whose process ends when the model has answered."""

    def __init__(self, consolidator: Consolidator) -> None:
        self._consolidator = consolidator
        self.known_at_most = consolidator.known_at_most

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
    asker = Asker(claim)
    segmentation.segment_window(
        claim=claim,
        segmenter=make_segmenter(asker),
        everything=True,
        finish=False,
    )
    with pytest.raises(Killed):
        consolidation.consolidate_batch(
            claim=claim,
            consolidator=Dying(make_consolidator(asker, NO_INSTRUCTIONS)),
            find_answers=echoes.find_answers,
            force=True,
        )
    ask(ana, told)
    Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(lease_until=Now() - claims.LEASE)
    drain_jobs()
    assert steps(ana) == [("skip", "echo")] * 3
    assert evidence(ana, LIVES) == [[1]]
    assert len(model.requests("consolidate")) == 2

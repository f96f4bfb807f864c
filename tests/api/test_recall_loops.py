"""What an agent was served and says again is not learnt a second time, without a model.

What the assistant says is never read offline; how far a model's reading of it is believed,
`tests/llm/test_recall_loops.py` tells.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Episode
from semantic.models import Change, Changeset, Evidence, Fact
from tests.conftest import Agent

pytestmark = [pytest.mark.django_db, pytest.mark.gate]

SAYS_LIVES, SAYS_NURSE = "I live in Porto.", "I work as a nurse at the Santo Antonio hospital."
MAPS = "I collect old maps of Braga."
LIVES, NURSE, CATS, COLLECTS = (
    f'Ana: "{said}"' for said in (SAYS_LIVES, SAYS_NURSE, "I have two cats.", MAPS)
)
MOVED = 'Ana: "I moved from Lisbon last week (23 February–1 March 2026)."'
ONCE = dict.fromkeys((LIVES, NURSE, MOVED, CATS), 1)
QUESTION = "Where does Ana live and work, and does she have cats?"
MONDAY = "2026-03-02T09:00:00Z"


@pytest.fixture(scope="module")
def told(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation in which Ana has told of herself."""
    for said in (
        SAYS_LIVES,
        SAYS_NURSE,
        "I moved from Lisbon last week.",
        "I have two cats.",
    ):
        ana.say(conversation, said, name="Ana", timestamp=MONDAY)
    ana.flush(conversation)
    assert facts(ana) == ONCE
    return conversation


def ask(agent: Agent, conversation: uuid.UUID, **body: Any) -> str:
    """Return what is served to a question about Ana, as markdown."""
    asked = {"conversation_id": str(conversation), "query": QUESTION, **body}
    answer = agent.post("retrieve_memory", asked)
    assert answer.status_code == 200
    return str(answer.content.decode())


def facts(agent: Agent) -> dict[str, int]:
    """Return the facts held, each with its number of pieces of evidence."""
    held = Fact.objects.of(agent.tenant).filter(invalid_at=None)
    return {fact.fact: Evidence.objects.of(agent.tenant).filter(fact=fact).count() for fact in held}


def steps(agent: Agent) -> list[tuple[str, str, str]]:
    """Return action, note and the fact of each step of the newest changeset."""
    newest = Changeset.objects.of(agent.tenant).latest("started_at", "id")
    taken = Change.objects.of(agent.tenant).filter(changeset=newest).order_by("position")
    named = {fact.id: fact.fact for fact in Fact.objects.of(agent.tenant)}
    return [(step.action, step.note, named.get(step.memory_id, "")) for step in taken]


def say_as_jo(agent: Agent, conversation: uuid.UUID, content: str) -> None:
    """Post what the agent says, which goes by the name of Jo."""
    agent.say(conversation, content, role="assistant", name="Jo")


@pytest.mark.parametrize("is_served", [True, False])
def test_what_the_assistant_says_is_neither_learnt_nor_confirmed(
    is_served: bool, ana: Agent, told: uuid.UUID
) -> None:
    if is_served:
        assert NURSE in ask(ana, told)
    ana.say(told, "What do you know of me?", name="Ana")
    say_as_jo(ana, told, "You live in Porto and work as a nurse at the Santo Antonio hospital.")
    say_as_jo(ana, told, "Ana moved from Lisbon last week.")
    say_as_jo(ana, told, "Ana drinks green tea in the garden.")
    ana.flush(told)
    assert facts(ana) == ONCE


def test_a_user_who_says_it_again_confirms_it(ana: Agent, told: uuid.UUID) -> None:
    ask(ana, told)
    say_as_jo(ana, told, "You live in Porto and work as a nurse at the Santo Antonio hospital?")
    ana.say(told, f"Yes. I have two cats. {SAYS_LIVES}", name="Ana")
    ana.say(told, SAYS_NURSE, name="Ana")
    ana.flush(told)
    assert facts(ana) == {**ONCE, LIVES: 2, NURSE: 2, CATS: 2}
    assert ("reinforce", "", NURSE) in steps(ana)


@pytest.mark.parametrize(
    ("role", "form"),
    [
        ("user", {"detail": "high"}),
        ("user", {"max_tokens": 400}),
        ("system", {"max_tokens": 400}),
        ("assistant", {"detail": "high"}),
        ("tool", {"explain": True, "detail": "high"}),
    ],
)
def test_an_answer_that_is_posted_whole_is_not_read(
    form: dict[str, Any], role: str, ana: Agent, told: uuid.UUID
) -> None:
    served = ask(ana, told, **form)
    ana.say(told, f"{served}\nUse this. I collect old maps of Braga.", role=role, name="Ana")
    ana.flush(told)
    held = facts(ana)
    assert {fact: held.pop(fact) for fact in ONCE} == ONCE
    assert all("maps" in fact and "Porto" not in fact for fact in held)
    assert bool(held) == (role == "user")
    assert {step[:2] for step in steps(ana)} - {("new", "")} == {("skip", "echo")}
    assert ("skip", "echo", NURSE) in steps(ana) or "max_tokens" in form


def test_an_answer_on_one_line_is_not_read_either(ana: Agent, told: uuid.UUID) -> None:
    served = " ".join(ask(ana, told, detail="high").split())
    ana.say(told, f"Context: {served} I collect old maps of Braga.", name="Ana")
    ana.flush(told)
    assert [fact for fact in facts(ana) if fact not in ONCE] == [COLLECTS]


def test_what_was_just_said_is_not_read_back(ana: Agent, told: uuid.UUID) -> None:
    """With `min_seq` an answer shows messages that stand in no episode yet."""
    said = ana.say(told, "I collect old maps of Braga.", name="Ana")
    served = ask(ana, told, min_seq=said["seq"])
    assert '"I collect old maps of Braga."' in served
    ana.say(told, served, role="user", name="Ana")
    say_as_jo(ana, told, "You collect old maps of Braga.")
    ana.flush(told)
    assert facts(ana) == {**ONCE, COLLECTS: 1}
    (evidence,) = Evidence.objects.of(ana.tenant).filter(fact__fact__contains="maps")
    assert evidence.message_seqs == [said["seq"]]


def test_a_dozen_rounds_of_the_loop_change_nothing(ana: Agent, told: uuid.UUID) -> None:
    for number in range(12):
        served = ask(ana, told, max_tokens=600)
        ana.say(told, f"{served}\nAnything else?", name="Ana")
        say_as_jo(ana, told, "You have two cats, and you live in Porto.")
        if number % 4 == 3:
            ana.flush(told)
    assert facts(ana) == ONCE
    assert Fact.objects.of(ana.tenant).count() == len(ONCE)
    assert Episode.objects.of(ana.tenant).filter(consolidated_at=None).count() == 0


def test_it_works_in_chinese(cleo: Agent) -> None:
    conversation = uuid.uuid4()
    cleo.say(conversation, "我住在上海，在一家医院当护士。", name="小明")
    cleo.flush(conversation)
    before = facts(cleo)
    assert before
    ask(cleo, conversation, query="小明住在哪里？")
    cleo.say(conversation, "你还记得我吗？", name="小明")
    cleo.say(conversation, "小明住在上海，在一家医院当护士。", role="assistant", name="小红")
    cleo.flush(conversation)
    assert facts(cleo) == before
    cleo.say(conversation, "我住在上海，在一家医院当护士。", name="小明")
    cleo.say(conversation, "我养了三只猫。", name="小明")
    cleo.flush(conversation)
    after = facts(cleo)
    assert {fact: after[fact] for fact in before} == dict.fromkeys(before, 2)
    assert [fact for fact in after if "猫" in fact]

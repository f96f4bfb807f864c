"""All conversations of a user answer as one: messages, pins, moments, replay, and nobody else's."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from episodic.models import Conversation
from indexing.models import SearchUnit, SearchVector
from indexing.owners import scope_of
from memoryproject.tenancy.models import APIKey
from retrieval.excerpts import drop_dates
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.tenancy.test_keys_of_users import bind
from wings.people.models import Alias, Merge, Person

pytestmark = pytest.mark.django_db

FACTS = (
    ("Nora", "I moved to Oslo last spring and found a flat near the Munch museum."),
    ("Nora", "My sister Ingrid plays the cello in the Bergen orchestra."),
    ("Nora", "I keep two hamsters called Biscuit and Crumb in a wooden cage."),
    ("Nora", "For my birthday I bought a red kayak at the harbour shop."),
)
DAYS = tuple(f"2026-0{month}-03T10:00:00Z" for month in (2, 3, 4, 5))
QUESTION = "What are the names of the hamsters?"


@dataclass
class House:
    """Conversations of nora, one of olga in the same tenant, one of a stranger's nora."""

    ana: Agent
    nora: Agent
    """A key that is bound to nora."""
    olga: Agent
    talks: list[str]
    others: dict[str, str] = field(default_factory=dict)


def say(agent: Agent, user: str, lines: list[tuple[str, str]], day: str, **more: Any) -> str:
    talk = str(uuid.uuid4())
    said = [
        {"role": role, "name": name, "content": content, "timestamp": day}
        for name, content in lines
        for role in [("assistant" if name == "Bot" else "user")]
    ]
    body = {
        "conversation_id": talk,
        "messages": said,
        **({"user_id": user} if user else {}),
        **more,
    }
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(uuid.UUID(talk))
    return talk


@pytest.fixture(scope="module")
def house(shared: None) -> Iterator[House]:
    ana, cleo = make_agent("ana's", "ana"), make_agent("cleo's", "cleo")
    reply = ("Bot", "That sounds lovely, tell me more about it.")
    talks = [
        say(ana, "nora", [line, reply, ("Nora", "It makes me happy every day.")], day)
        for line, day in zip(FACTS, DAYS, strict=True)
    ]
    secret = ("Olga", "My hamsters are called Secret and Hush, they are white.")
    others = {
        "olga": say(ana, "olga", [secret, reply], DAYS[0]),
        "stranger": say(cleo, "nora", [secret, reply], DAYS[0]),
        "nobody": say(ana, "", [secret, reply], DAYS[0]),
    }
    yield House(ana, bind(ana, "nora"), bind(ana, "olga"), talks, others)


def ask(agent: Agent, query: str = QUESTION, **more: Any) -> str:
    answer = agent.post("retrieve_memory", {"query": query, "scope": "user", **more})
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


NORA = {"user_id": "nora", "max_tokens": 300}


def test_messages_of_other_conversations_answer(house: House) -> None:
    text = ask(house.ana, **NORA)
    fact = next(line for line in text.splitlines() if "Biscuit and Crumb" in line)
    assert f"(conversation {house.talks[2][:8]})]" in fact and "Secret" not in text
    assert text == ask(house.ana, conversation_id=str(uuid.uuid4()), **NORA)
    assert text == ask(house.ana, conversation_id=house.talks[0], max_tokens=300)
    for number, word in enumerate(["Oslo", "cello", "hamsters", "kayak"]):
        answer = drop_dates(ask(house.ana, f"What about the {word}?", **NORA))
        assert FACTS[number][1][:30] in answer


def test_headings_say_the_day_and_the_conversation_where_there_are_several(house: House) -> None:
    text = ask(house.ana, "Oslo, cello, hamsters, kayak", **NORA)
    for talk, day in zip(house.talks, ("3 February", "3 March", "3 April", "3 May"), strict=True):
        assert f"### {day} 2026 (conversation {talk[:8]})\n" in text
    alone = {"conversation_id": house.talks[2], "max_tokens": 300, "scope": "conversation"}
    assert "### 3 April 2026\n" in ask(house.ana, **alone)


def test_the_conversation_at_hand_can_be_left_out(house: House) -> None:
    here = {"conversation_id": house.talks[2], "max_tokens": 300}
    assert "Biscuit" in ask(house.ana, **here)
    text = ask(house.ana, **here, exclude_current=True)
    assert "Biscuit" not in text
    assert "kayak" in ask(house.ana, "Where is the kayak from?", **here, exclude_current=True)


def test_every_budget_holds(house: House) -> None:
    for max_tokens in (10, 40, 90, 200, 1000):
        answer = house.ana.post(
            "retrieve_memory/raw",
            {"query": "Oslo, cello, hamsters, kayak", "scope": "user", **NORA}
            | {"max_tokens": max_tokens},
        ).json()
        receipt = house.ana.get(f"retrievals/{answer['receipt']}").json()
        assert receipt["tokens"] <= max_tokens
        assert all(block["sources"] for block in answer["blocks"])


def test_sources_are_told_by_message_and_replay_is_exact(house: House) -> None:
    body = {"query": "Oslo, cello, hamsters, kayak", "scope": "user", **NORA}
    answer = house.ana.post("retrieve_memory/raw", body).json()
    said = {source["message_id"] for block in answer["blocks"] for source in block["sources"]}
    assert len(said) >= len(FACTS)
    seqs = [source["seq"] for block in answer["blocks"] for source in block["sources"]]
    assert len(set(seqs)) < len(seqs), "the same seq in several conversations"
    assert {hit["conversation_id"] for hit in answer["episodic"]} == set(house.talks)
    replay = house.ana.get(f"retrievals/{answer['receipt']}/replay").json()
    assert replay["exact"] and replay["text"] == "\n".join(
        block["text"].rstrip("\n") + "\n" for block in answer["blocks"]
    )
    receipt = house.ana.get(f"retrievals/{answer['receipt']}").json()
    assert receipt["conversation_id"] is None and receipt["parameters"]["user_id"] == "nora"


@pytest.mark.parametrize("more", [{}, {"max_tokens": 300}, {"detail": "high"}])
def test_a_key_bound_to_a_user_sees_no_others(house: House, more: dict[str, Any]) -> None:
    """As of right, and whatever it names."""
    for where in ({}, {"user_id": "nora"}, {"conversation_id": house.talks[0]}):
        assert "Biscuit" in ask(house.nora, **where, **more)
        assert "Secret" not in ask(house.nora, **where, **more)
    for where in (
        {"user_id": "olga"},
        {"conversation_id": house.others["olga"], "user_id": "olga"},
    ):
        assert ask(house.nora, **where, **more) == ""
    assert "Secret" in ask(house.olga, **more)
    assert "Biscuit" not in ask(house.olga, **more)
    whole = {"scope": "tenant", "conversation_id": house.talks[0]}
    assert "Secret" not in ask(house.nora, **{**more, **whole})


def test_a_tenants_scope_serves_messages_too(house: House) -> None:
    answer = house.ana.post(
        "retrieve_memory", {"query": QUESTION, "scope": "tenant", "max_tokens": 400}
    )
    text = answer.content.decode()
    assert "Biscuit and Crumb" in text and "Secret and Hush" in text


def test_other_moments_are_asked_about_as_in_one_conversation(house: House) -> None:
    for when in ({"as_of": "2026-03-20T00:00:00Z"}, {"known_at": "2020-01-01T00:00:00Z"}):
        text = ask(house.ana, "hamsters, cello", **NORA, **when)
        assert "Biscuit" not in text
        assert ("cello" in text) is ("as_of" in when)
    now = ask(house.ana, **NORA, known_at="2100-01-01T00:00:00Z")
    assert "Biscuit and Crumb" in now


def test_relevance_is_told_and_may_leave_an_answer_empty(house: House) -> None:
    body = {"query": QUESTION, "scope": "user", **NORA}
    answer = house.ana.post("retrieve_memory", body)
    assert 0 < float(answer["Memory-Relevance"]) <= 1
    assert house.ana.post("retrieve_memory", {**body, "min_relevance": 1}).content == b""


def test_an_agent_narrows_a_users_conversations(house: House) -> None:
    line = ("Nora", "My hamsters Biscuit and Crumb won a prize at the fair.")
    say(house.ana, "vera", [line], DAYS[0], agent_id="pets")
    say(house.ana, "vera", [("Nora", "The hamsters sleep in the barn.")], DAYS[1], agent_id="farm")
    vera = {"user_id": "vera", "max_tokens": 300}
    assert "prize" in ask(house.ana, **vera) and "barn" in ask(house.ana, **vera)
    text = ask(house.ana, **vera, agent_id="pets")
    assert "prize" in text and "barn" not in text
    alone = {"query": QUESTION, "scope": "tenant", "agent_id": "farm", "max_tokens": 300}
    assert b"barn" in house.ana.post("retrieve_memory", alone).content
    assert b"prize" not in house.ana.post("retrieve_memory", alone).content
    assert_problem(house.nora.post("retrieve_memory", alone), 400, "agent_id")


def test_guidelines_and_dangers_of_any_session_come_unasked(house: House) -> None:
    first = [
        ("Ida", "I'm allergic to peanuts."),
        ("Bot", "Noted."),
        ("Ida", "From now on always answer in bullet points."),
    ]
    say(house.ana, "ida", first, DAYS[0])
    second = say(house.ana, "ida", [("Ida", "Hi again!")], DAYS[1])
    for query in ("Suggest a dessert", "Write me a shopping list"):
        for call in ("retrieve_memory", "context_pre_retrieve"):
            for where in ({"conversation_id": second}, {"user_id": "ida"}):
                body = {"query": query, "scope": "user", "max_tokens": 300, **where}
                text = house.ana.post(call, body).content.decode()
                assert "allergic to peanuts" in text and "bullet points" in text
        body = {"query": query, "scope": "user", "user_id": "ida"}
        text = house.ana.post("context_pre_retrieve", body).content.decode()
        assert "allergic to peanuts" in text and "bullet points" in text


def test_who_is_the_same_person_has_one_memory(house: House) -> None:
    tenant = house.ana.tenant
    say(
        house.ana, "nora@work", [("Nora", "At work I tend the aquarium with nine tetras.")], DAYS[3]
    )
    first, second = (Person.objects.create(tenant=tenant, name=name) for name in ("N", "N. B."))
    for person, user in ((first, "nora"), (second, "nora@work")):
        Alias.objects.create(tenant=tenant, person=person, kind="user", value=user)
    query = "How many tetras are in the aquarium?"
    assert "nine tetras" not in ask(house.ana, query, **NORA)
    merge = Merge.objects.create(
        tenant=tenant, person=second, into=first, actor="ana", reason="the same"
    )
    assert "nine tetras" in ask(house.ana, query, **NORA)
    assert "Biscuit" in ask(house.ana, user_id="nora@work", max_tokens=300)
    assert "nine tetras" not in ask(house.nora, query, max_tokens=300), "its key names nora alone"
    merge.undone_at = merge.created_at
    merge.save()
    assert "nine tetras" not in ask(house.ana, query, **NORA)


def test_who_said_something_in_anothers_conversation_is_shown_that_alone(house: House) -> None:
    """A message's own user finds the message; the episode around it is somebody else's."""
    lines = [
        ("Pia", "I hid the spare key under the blue flower pot."),
        ("Tom", "My hamsters are named Zig and Zag, they love carrots."),
        ("Pia", "The alarm code is on the fridge."),
    ]
    talk = say(house.ana, "pia", lines, DAYS[0])
    tom = scope_of(house.ana.tenant.id, "tom")
    home = Conversation.objects.of(house.ana.tenant).get(external_id=talk)
    units = SearchUnit.objects.of(house.ana.tenant).filter(conversation=home, kind="message")
    his = units.filter(first_seq=2)
    SearchVector.objects.of(house.ana.tenant).filter(unit__in=his).update(user_scope=tom)
    assert his.update(user_scope=tom) == 1
    packed = ask(house.ana, user_id="tom", max_tokens=300)
    assert "Zig and Zag" in packed and "flower pot" not in packed and "alarm" not in packed
    for detail in ("auto", "high"):
        text = ask(house.ana, user_id="tom", detail=detail)
        assert "flower pot" not in text and "alarm" not in text
    raw = {"query": QUESTION, "scope": "user", "user_id": "tom"}
    answer = house.ana.post("retrieve_memory/raw", raw).content.decode()
    assert "flower pot" not in answer and "alarm" not in answer
    assert "Zig and Zag" in ask(house.ana, conversation_id=talk, scope="conversation")


def test_the_newest_episodes_are_those_of_all_conversations(house: House) -> None:
    for where in ({"user_id": "nora"}, {"conversation_id": house.talks[1]}):
        body = {"scope": "user", **where}
        episodes = house.ana.post("recent_memory/raw", body).json()
        assert {episode["conversation_id"] for episode in episodes} == set(house.talks)
        text = house.ana.post("recent_memory", body).content.decode()
        assert "kayak" in text and "Oslo" in text and "Secret" not in text
    here = {"scope": "user", "conversation_id": house.talks[1], "exclude_current": True}
    others = house.ana.post("recent_memory/raw", here).json()
    assert {episode["conversation_id"] for episode in others} == {*house.talks} - {house.talks[1]}
    assert house.nora.post("recent_memory/raw", {"scope": "user", "user_id": "olga"}).json() == []
    every = house.nora.post("recent_memory/raw", {"scope": "tenant", "limit": 100}).json()
    assert {episode["conversation_id"] for episode in every} == set(house.talks)
    assert_problem(house.ana.post("recent_memory", {}), 400, "conversation_id")


def test_where_to_look_has_a_default(house: House) -> None:
    body = {"query": QUESTION, "conversation_id": house.talks[0], "max_tokens": 300}

    def is_found(default: str = "") -> bool:
        """Return whether a new key of that default finds what was said in another conversation."""
        agent = bind(house.ana)
        APIKey.objects.of(agent.tenant).filter(id=agent.key.id).update(default_scope=default)
        return "Biscuit" in agent.post("retrieve_memory", body).content.decode()

    assert not is_found()
    assert is_found("user")
    house.ana.tenant.change_setting("default_scope", "user")
    assert is_found()
    assert not is_found("conversation")
    body["scope"] = "conversation"
    assert not is_found("user")
    house.ana.tenant.change_setting("default_scope")


def test_what_a_scope_needs_is_named(house: House) -> None:
    for body, field_name in (
        ({"scope": "user"}, "user_id"),
        ({"scope": "conversation"}, "conversation_id"),
        ({}, "conversation_id"),
        ({"scope": "tenant", "user_id": "nora"}, "user_id"),
        ({"conversation_id": house.talks[0], "agent_id": "pets"}, "agent_id"),
        ({"conversation_id": house.talks[0], "exclude_current": True}, "exclude_current"),
    ):
        for call in ("retrieve_memory", "retrieve_memory/raw", "context_pre_retrieve"):
            answer = house.ana.post(call, {"query": QUESTION, **body})
            assert list(assert_problem(answer, 400)["fields"]) == [field_name]

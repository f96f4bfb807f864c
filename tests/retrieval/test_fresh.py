"""What a user has just said in one conversation is known in his others, before any worker ran."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from memoryproject.text.tokens import count_tokens
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent

pytestmark = pytest.mark.django_db
QUESTION = "On which port is the staging database?"


def say(agent: Agent, *lines: str, user: str = "nora", talk: str | None = None) -> str:
    talk = talk or str(uuid.uuid4())
    messages = [{"role": "user", "content": line} for line in lines]
    body = {"conversation_id": talk, "user_id": user or None, "messages": messages}
    assert agent.post("add_messages", body).status_code == 201
    return talk


def ask(agent: Agent, query: str = QUESTION, **more: Any) -> str:
    body = {"conversation_id": str(uuid.uuid4()), "query": query, "scope": "user"}
    answer = agent.post("retrieve_memory", {**body, "user_id": "nora", **more})
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def test_what_waits_elsewhere_and_fits_the_question_comes_with_a_budget(ana: Agent) -> None:
    say(ana, "We use pnpm here.", "The staging database is on port 5544.")
    text = ask(ana, max_tokens=300)
    assert "## Recent Messages" in text and "5544" in text and "pnpm" not in text
    assert ask(ana, "Who won the match?", max_tokens=300) == ""
    assert ask(ana) == "", "without a budget only what is asked for"
    assert ask(ana, category="goal", max_tokens=300) == ""


def test_fresh_brings_the_last_lines_of_each_whatever_the_question(ana: Agent) -> None:
    first = say(ana, *(f"Remark {number}." for number in range(1, 10)))
    second = say(ana, "Hello there.")
    text = ask(ana, "Suggest a dessert.", fresh=True, max_tokens=600)
    assert "Remark 9" in text and "Remark 4" in text and "Remark 3" not in text
    assert f"### Conversation {first[:8]}\n" in text and f"### Conversation {second[:8]}\n" in text
    assert text.index("Remark 4") < text.index("Remark 9") < text.index("Hello there")
    own = ask(ana, "Suggest a dessert.", fresh=True, conversation_id=second)
    assert "Remark 9" in own and "Hello" not in own, "its own lines are in the prompt already"


def test_fresh_in_one_conversation_is_about_that_one(ana: Agent) -> None:
    talk = say(ana, "We use pnpm.", "The staging database is on port 5544.")
    say(ana, "In this project we use yarn.")
    body = {"conversation_id": talk, "query": "Which package manager?", "max_tokens": 300}
    assert ana.post("retrieve_memory", body).content == b""
    text = ana.post("retrieve_memory", {**body, "fresh": True}).content.decode()
    assert "pnpm" in text and "5544" in text and "yarn" not in text
    raw = ana.post("retrieve_memory/raw", {**body, "fresh": True}).json()
    assert [row["seq"] for row in raw["recent"]] == [1, 2]


def test_min_seq_names_the_conversation_that_is_asked_in(ana: Agent) -> None:
    talk = say(ana, "I ate soup.", "The cat is called Minka.")
    say(ana, "The staging database is on port 5544.")
    text = ask(ana, conversation_id=talk, min_seq=2, max_tokens=400)
    assert "Minka" in text and "5544" in text


def test_nobody_gets_what_others_said(ana: Agent, cleo: Agent) -> None:
    say(ana, "The staging database is on port 5544.", user="olga")
    say(cleo, "The staging database is on port 7777.")
    assert ask(ana, max_tokens=300, fresh=True) == ""
    bound = make_agent("ana's", "bound")
    bound.key.user_ids = ["nora"]
    bound.key.save()
    for scope in ({"scope": "user", "user_id": "olga"}, {"scope": "tenant"}):
        body = {"query": QUESTION, "conversation_id": str(uuid.uuid4()), "max_tokens": 300}
        answer = bound.post("retrieve_memory", {**body, **scope})
        assert b"5544" not in answer.content


def test_in_the_scope_of_a_tenant_all_its_newest_conversations_are_read(
    ana: Agent, cleo: Agent
) -> None:
    say(ana, "The staging database is on port 5544.", user="")
    body = {"query": QUESTION, "conversation_id": str(uuid.uuid4()), "max_tokens": 300}
    assert b"5544" in ana.post("retrieve_memory", {**body, "scope": "tenant"}).content
    assert b"5544" not in cleo.post("retrieve_memory", {**body, "scope": "tenant"}).content


@pytest.mark.parametrize("budget", [5, 40, 80, 300])
def test_the_budget_holds(ana: Agent, budget: int) -> None:
    for port in range(5540, 5548):
        say(ana, f"The staging database is on port {port}, the old one was on another one.")
    assert count_tokens(ask(ana, fresh=True, max_tokens=budget)) <= budget


def test_what_is_processed_is_not_shown_twice(ana: Agent) -> None:
    talk = say(ana, "The staging database is on port 5544.")
    ana.flush(uuid.UUID(talk))
    assert "Recent Messages" not in ask(ana, fresh=True, max_tokens=400)


def test_words_of_every_script_are_compared(ana: Agent) -> None:
    say(ana, "私は犬を飼っています。", "今日は雨です。")
    text = ask(ana, "犬の名前は何ですか", max_tokens=300)
    assert "犬を飼って" in text and "雨" not in text


def test_preferences_guidelines_and_dangers_come_alone(ana: Agent) -> None:
    talk = say(
        ana, "I'm allergic to peanuts.", "From now on always answer in bullet points.",
        "The staging database is on port 5544.", "I like jazz.", "I moved to Porto last year.",
    )  # fmt: skip
    ana.say(uuid.UUID(talk), "All right.", role="assistant")
    ana.flush(uuid.UUID(talk))
    body = {"conversation_id": talk, "query": "Suggest a dessert.", "preferences_only": True}
    for more in ({}, {"max_tokens": 100}):
        text = ana.post("context_pre_retrieve", {**body, **more}).content.decode()
        assert "peanuts" in text and "bullet points" in text and "jazz" in text
        assert "5544" not in text and "Porto" not in text
    assert_problem(ana.post("context_pre_retrieve", {**body, "category": "goal"}), 400, "category")
    assert_problem(ana.post("retrieve_memory", body), 400, "preferences_only")


def test_a_message_that_names_another_user_is_his(ana: Agent) -> None:
    talk = str(uuid.uuid4())
    messages = [
        {"role": "user", "content": "The staging database is on port 5544.", "user_id": "olga"},
        {"role": "user", "content": "My staging database is on port 7777."},
    ]
    body = {"conversation_id": talk, "user_id": "nora", "messages": messages}
    assert ana.post("add_messages", body).status_code == 201
    nora, olga = (ask(ana, user_id=user, max_tokens=300) for user in ("nora", "olga"))
    assert "7777" in nora and "5544" not in nora
    assert "5544" in olga and "7777" not in olga

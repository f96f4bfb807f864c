"""What a user asks to forget is served no more, and erased once a person confirms it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.forget_requests import read_request
from episodic.models import Message, Withholding
from jobs.draining import drain_jobs
from semantic.models import Fact, Suggestion
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent

pytestmark = pytest.mark.django_db
DOG = "I have a dog named Rex."
TALK = [DOG, "I'm allergic to peanuts.", "I moved from Lisbon to Porto last year."]


def say(agent: Agent, *lines: str, user: str = "nora", talk: str | None = None) -> str:
    talk = talk or str(uuid.uuid4())
    messages = [{"role": "user", "name": "Nora", "content": line} for line in lines]
    body = {"conversation_id": talk, "user_id": user, "messages": messages}
    assert agent.post("add_messages", body).status_code == 201
    return talk


@pytest.fixture
def talk(ana: Agent) -> str:
    talk = say(ana, *TALK)
    ana.flush(uuid.UUID(talk))
    assert "Rex" in serve(ana, talk)
    return talk


def serve(agent: Agent, talk: str, query: str = "What is the dog called?", **more: Any) -> str:
    """Return all that is served on a question, in every way that there is."""
    body = {"conversation_id": talk, "query": query, "fresh": True, **more}
    answers = [
        agent.post("retrieve_memory", {**body, "max_tokens": 500}),
        agent.post("retrieve_memory", {**body, "detail": "high"}),
        agent.post("context_pre_retrieve", body),
        agent.post("search", {"query": query}),
        agent.post("reconstruct_context", {"query": query, "since": 0}),
        agent.post("recent_memory", {"conversation_id": talk}),
        agent.get("facts"),
    ]
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(answer.content.decode() for answer in answers).replace(query, "")


def forget(agent: Agent, **body: Any) -> list[dict[str, str]]:
    answer = agent.post("forget", body)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["forgotten"])


def test_what_is_forgotten_is_served_no_more_and_the_rest_is(ana: Agent, talk: str) -> None:
    (forgotten,) = forget(ana, text="my dog named Rex", user_id="nora")
    assert "Rex" not in serve(ana, talk)
    drain_jobs()
    assert "Rex" not in serve(ana, talk)
    assert "peanuts" in serve(ana, talk, "Which food is Nora allergic to?")
    fact = Fact.across_tenants.get(id=forgotten["fact_id"])
    assert fact.invalidated_because == Fact.Because.FORGOTTEN
    past = {"known_at": "2100-01-01T00:00:00Z"}, {"as_of": "2100-01-01T00:00:00Z"}
    for moment in past:
        assert "Rex" not in serve(ana, talk, **moment)
    assert Message.across_tenants.filter(content=DOG).exists(), "nothing is deleted yet"


def test_it_waits_for_a_person_who_restores_it(ana: Agent, talk: str) -> None:
    (forgotten,) = forget(ana, text="dog Rex", conversation_id=talk)
    (item,) = ana.get("suggestions").json()["items"]
    assert (item["kind"], item["id"]) == ("erase", forgotten["suggestion_id"])
    assert ana.post(f"suggestions/{item['id']}/decline", {}).status_code == 200
    drain_jobs()
    assert "Rex" in serve(ana, talk)
    assert ana.get("suggestions").json()["items"] == []
    assert not Withholding.across_tenants.filter(lifted_at=None).exists()
    assert_problem(ana.post(f"suggestions/{item['id']}/decline", {}), 409)
    assert len(forget(ana, text="dog Rex", conversation_id=talk)) == 1, "it can be asked again"
    assert "Rex" not in serve(ana, talk)


def test_who_accepts_it_erases_fact_and_messages(ana: Agent, talk: str) -> None:
    (forgotten,) = forget(ana, text="dog Rex", user_id="nora")
    path = f"suggestions/{forgotten['suggestion_id']}/accept"
    curator = make_agent("ana's", "curator", ("read", "curate"))
    assert_problem(curator.post(path, {}), 403)
    answer = ana.post(path, {})
    assert (answer.status_code, answer.json()["decision"]) == (200, "accepted"), answer.content
    drain_jobs()
    assert not Fact.across_tenants.filter(fact__contains="Rex").exists()
    assert not Message.across_tenants.filter(content__contains="Rex").exists()
    assert not Suggestion.across_tenants.exists()
    (erasure,) = ana.get("erasures").json()["items"]
    assert (erasure["scope"], erasure["state"]) == ("fact", "done")
    assert "peanuts" in serve(ana, talk, "Which food is Nora allergic to?")


def test_facts_are_forgotten_by_id(ana: Agent, talk: str, cleo: Agent) -> None:
    facts = ana.get("facts", conversation_id=talk).json()["items"]
    dog = next(fact for fact in facts if "Rex" in fact["fact"])
    assert_problem(cleo.post("forget", {"fact_ids": [dog["id"]]}), 404)
    (forgotten,) = forget(ana, fact_ids=[dog["id"]])
    assert forgotten["fact_id"] == dog["id"] and "Rex" not in serve(ana, talk)
    assert forget(ana, fact_ids=[dog["id"]]) == [], "it is forgotten already"


def test_a_note_that_says_it_is_deleted(ana: Agent) -> None:
    note = {"content": "The user has a dog named Rex.", "user_id": "nora"}
    kept = {"content": "The user's cat is named Minka.", "user_id": "nora"}
    ids = [ana.post("notes", body).json()["id"] for body in (note, kept)]
    answer = ana.post("forget", {"text": "my dog Rex", "scope": "tenant"}).json()
    assert answer == {"forgotten": [], "note_ids": [ids[0]]}
    assert ana.get(f"notes/{ids[0]}").status_code == 404
    assert ana.get(f"notes/{ids[1]}").status_code == 200


def test_a_user_says_it_in_a_message(ana: Agent, talk: str) -> None:
    say(ana, "Forget that I have a dog named Rex.")
    assert (drain_jobs().dead, "Rex" in serve(ana, talk)) == (0, False)
    assert len(ana.get("suggestions").json()["items"]) == 1
    assert "peanuts" in serve(ana, talk, "Which food is Nora allergic to?")


def test_what_waits_in_the_window_is_never_learnt(ana: Agent) -> None:
    talk = say(ana, DOG, "I'm allergic to peanuts.", "Forget that I have a dog named Rex.")
    drain_jobs()
    ana.flush(uuid.UUID(talk))
    assert "Rex" not in serve(ana, talk)
    assert not Fact.across_tenants.filter(fact__contains="Rex").exists()
    assert "peanuts" in serve(ana, talk, "Which food is Nora allergic to?")


def test_an_assistant_or_a_tool_makes_nobody_forget(ana: Agent, talk: str) -> None:
    for role in ("assistant", "tool", "system"):
        ana.say(uuid.UUID(talk), "Forget that I have a dog named Rex.", role=role)
    drain_jobs()
    assert "Rex" in serve(ana, talk)


def test_nobody_forgets_for_others(ana: Agent, talk: str) -> None:
    other = say(ana, DOG, user="olga")
    ana.flush(uuid.UUID(other))
    assert len(forget(ana, text="dog Rex", user_id="olga")) == 1
    assert "Rex" in serve(ana, talk)
    facts = ana.get("facts", conversation_id=talk).json()["items"]
    assert any("Rex" in fact["fact"] for fact in facts)
    assert forget(ana, text="my cat Minka", user_id="nora") == []
    bound = make_bound("olga")
    dog = next(fact for fact in facts if "Rex" in fact["fact"])
    assert_problem(bound.post("forget", {"fact_ids": [dog["id"]]}), 404)
    assert forget(bound, text="dog Rex", user_id="nora") == []
    assert forget(bound, text="dog Rex") == [], "its own is forgotten already"


def make_bound(user: str) -> Agent:
    bound = make_agent("ana's", "bound")
    bound.key.user_ids = [user]
    bound.key.save()
    return bound


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "Rex", "fact_ids": [str(uuid.uuid4())]}, "text"),
        ({"text": "Rex"}, "user_id"),
        ({"fact_ids": []}, "fact_ids"),
        ({"text": "Rex", "user_id": "nora", "scope": "world"}, "scope"),
    ],
)
def test_bad_requests_are_told(ana: Agent, body: dict[str, Any], field: str) -> None:
    error = assert_problem(ana.post("forget", body), 400)
    assert list(error["fields"]) == [field]


@pytest.mark.parametrize(
    ("said", "thing"),
    [
        ("Forget that I have a dog named Rex.", "I have a dog named Rex"),
        ("please forget everything I told you about Tom", "Tom"),
        ("Vergiss bitte, dass ich in Berlin wohne.", "ich in Berlin wohne"),
        ("Oublie que j'habite à Lyon.", "j'habite à Lyon"),
        ("Olvida que tengo un perro", "tengo un perro"),
        ("Dimentica che vivo a Roma.", "vivo a Roma"),
        ("Esquece que eu tenho um cão.", "eu tenho um cão"),
        ("请忘记我养了一只狗。", "我养了一只狗"),
        ("私が犬を飼っていることを忘れてください。", "私が犬を飼っている"),
    ],
)
def test_whole_sentences_of_some_languages_ask_for_it(said: str, thing: str) -> None:
    assert read_request(said) == (thing, True)


@pytest.mark.parametrize(
    "said",
    [
        "Forget it.", "Forget that!", "Don't forget that I live in Oslo.", "Forget about it, then.",
        "I forget that I have keys.", "Forget what I said about Friday, it is Monday now.",
        "Forget that movie, let us go home.", "Vergiss nicht, dass ich komme.",
        "He said: forget that I was here.", "Forget that I " + "x" * 400,
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_does_not(said: str) -> None:
    assert read_request(said) is None

"""A message may name another user than its conversation's: then it is that user's."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Message
from indexing.models import SearchUnit
from indexing.owners import scope_of
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import MORNING, messages
from tests.tenancy.test_keys_of_users import bind

pytestmark = pytest.mark.django_db

CANARY = "Zanzibarquux"
OURS, THEIRS = "I keep bees in Ghent.", f"My boat is called {CANARY}."


def tell(agent: Agent, conversation: uuid.UUID, *, user_id: str = "", of: str = "jonas") -> Any:
    """Have a conversation of somebody in which one message names another user."""
    said: list[dict[str, Any]] = messages([("Mira", OURS), ("Mira", THEIRS)], MORNING)
    said[1] |= {"name": "Jonas", "user_id": of}
    body = {"conversation_id": str(conversation), "messages": said}
    return agent.post("add_messages", body | ({"user_id": user_id} if user_id else {}))


@pytest.mark.parametrize("user_id", ["mira", ""])
def test_a_message_is_found_under_the_user_whom_it_names(
    ana: Agent, conversation: uuid.UUID, user_id: str
) -> None:
    assert tell(ana, conversation, user_id=user_id).status_code == 201
    ana.flush(conversation)
    units = SearchUnit.objects.of(ana.tenant).filter(kind="message").order_by("first_seq")
    tenant_id = ana.tenant.id
    scopes = [scope_of(tenant_id, user_id), scope_of(tenant_id, "jonas")]
    assert list(units.values_list("user_scope", flat=True)) == scopes
    ours, theirs = units.values_list("lexical_text", flat=True)
    assert CANARY.lower() not in ours.lower() and "bees" not in theirs


def test_a_message_shows_whose_it_is_where_it_names_somebody(
    ana: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation, user_id="mira")
    ours, theirs = ana.get("messages", conversation_id=conversation).json()["items"]
    assert "user_id" not in ours and theirs["user_id"] == "jonas"


def test_a_key_bound_to_users_names_no_other(ana: Agent, conversation: uuid.UUID) -> None:
    mira = bind(ana, "mira")
    assert_problem(tell(mira, conversation), 403)
    assert not Message.objects.of(ana.tenant).exists()
    assert tell(bind(ana, "mira", "jonas"), conversation, user_id="mira").status_code == 201


def test_a_key_sees_of_another_s_conversation_what_names_its_user(
    ana: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation, user_id="mira")
    ana.flush(conversation)
    jonas, stranger = bind(ana, "jonas"), bind(ana, "cleo")
    shown = jonas.get("messages", conversation_id=conversation).json()["items"]
    assert [row["content"] for row in shown] == [THEIRS]
    ours, theirs = Message.objects.of(ana.tenant).order_by("seq")
    assert jonas.get(f"messages/{theirs.id}").status_code == 200
    assert_problem(jonas.get(f"messages/{ours.id}"), 404)
    assert_problem(jonas.get(f"conversations/{conversation}"), 404)
    assert jonas.get("episodes").json()["items"] == []
    (fact,) = jonas.get("facts").json()["items"]
    assert CANARY in fact["fact"]
    evidence = jonas.get(f"facts/{fact['id']}").json()["evidence"]
    assert [row["id"] for part in evidence for row in part["messages"]] == [str(theirs.id)]
    assert stranger.get("facts").json()["items"] == []
    assert stranger.get("messages", conversation_id=conversation).json()["items"] == []


def test_people_are_known_by_the_messages_that_name_them(
    ana: Agent, conversation: uuid.UUID
) -> None:
    tell(ana, conversation, user_id="mira")
    made = ana.post("people", {"name": "Jonas", "user_ids": ["jonas"]})
    assert made.status_code == 201, made.content
    assert made.json()["counts"]["messages"] == 1
    body = {"scope": "person", "id": made.json()["id"], "reason": "He asked for it."}
    assert ana.post("erasures", body).status_code in {200, 202}
    left = Message.objects.of(ana.tenant)
    assert list(left.values_list("content", flat=True)) == [OURS]


@pytest.mark.parametrize(
    ("call", "budget"),
    [
        ("retrieve_memory", {"max_tokens": 500}),
        ("retrieve_memory/raw", {}),
        ("context_pre_retrieve", {}),
    ],
)
def test_a_user_finds_his_message_in_another_s_conversation_and_no_other_word_of_it(
    ana: Agent, conversation: uuid.UUID, call: str, budget: dict[str, int]
) -> None:
    tell(ana, conversation, user_id="mira")
    ana.flush(conversation)
    for agent in (ana, bind(ana, "jonas")):
        body = {"scope": "user", "user_id": "jonas", "query": "Whose boat, whose bees?", **budget}
        answer = agent.post(call, {"conversation_id": str(uuid.uuid4()), **body})
        assert answer.status_code == 200, answer.content
        said = answer.content.decode()
        assert "bees" not in said.replace("whose bees?", "") and "Mira" not in said
        assert CANARY in said
    body = {"scope": "user", "user_id": "mira", "query": f"The boat {CANARY}?", "max_tokens": 500}
    answer = bind(ana, "mira").post(
        "retrieve_memory", {"conversation_id": str(uuid.uuid4()), **body}
    )
    assert "bees" in answer.content.decode() and CANARY not in answer.content.decode()
    here = {"conversation_id": str(conversation), "query": "Whose boat?"}
    assert CANARY in ana.post("retrieve_memory", here).content.decode()


def test_what_another_user_says_is_no_evidence_of_what_one_has_said(ana: Agent) -> None:
    """In his own conversation, in another one's, and the other way round: three facts."""
    own, shared = uuid.uuid4(), uuid.uuid4()
    tell(ana, shared, user_id="mira")
    ana.flush(shared)
    for conversation, user_id in ((own, "jonas"), (uuid.uuid4(), "mira")):
        said = messages([("Mira", THEIRS)], MORNING)
        said[0]["name"] = "Jonas"
        body = {"conversation_id": str(conversation), "user_id": user_id, "messages": said}
        assert ana.post("add_messages", body).status_code == 201
        ana.flush(conversation)
    facts = Fact.objects.of(ana.tenant).filter(fact__contains=CANARY, invalid_at=None)
    assert sorted(facts.values_list("conversation__user_id", "user_id")) == [
        ("jonas", ""),
        ("mira", ""),
        ("mira", "jonas"),
    ]

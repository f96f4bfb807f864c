"""Several questions in one call: each is answered, in one budget."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from retrieval.models import Retrieval
from retrieval.request import read_request
from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

SAID = [
    "My sister Nora runs a small bakery.",
    "The bakery opens at half past six in the morning.",
    "We watched a film about deep sea fishing yesterday.",
    "The locker downstairs has the code 4482.",
    "Bo took the train to Lyon and forgot his umbrella.",
    "The boiler was repaired by a man named Ferdinand.",
    "Our neighbour plays the trombone at night.",
    "I keep the passports in the blue tin.",
] * 4


@pytest.fixture(scope="module")
def talk(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    for number, said in enumerate(SAID):
        ana.say(conversation, said if number < 8 else f"Again, in week {number}: nothing new here.")
    ana.flush(conversation)
    return conversation


def ask(ana: Agent, talk: uuid.UUID, query: str, **options: Any) -> Any:
    body = {"conversation_id": str(talk), "query": query, "max_tokens": 90, **options}
    answer = ana.post("retrieve_memory", body)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_each_question_is_answered_in_one_budget(ana: Agent, talk: uuid.UUID) -> None:
    first, second = "What is the locker's code?", "Where are the passports?"
    alone = ask(ana, talk, first)
    assert "4482" in alone and "blue tin" not in alone
    both = ask(ana, talk, first, queries=[second])
    assert "4482" in both and "blue tin" in both
    assert ask(ana, talk, first, queries=[]) == alone


def test_a_receipt_has_all_questions_and_is_asked_again_with_them(
    ana: Agent, talk: uuid.UUID
) -> None:
    further = ["Where are\nthe passports?", "Who repaired the boiler?"]
    ask(ana, talk, "What is the locker's code?", queries=further)
    receipt = Retrieval.objects.of(ana.tenant).latest("created_at")
    assert receipt.query.splitlines()[-1] == "Who repaired the boiler?"
    request = read_request(receipt)
    assert request.questions == ("What is the locker's code?", *further)


def test_what_is_asked_with_the_words_of_an_erased_message_is_erased(
    ana: Agent, talk: uuid.UUID
) -> None:
    ask(ana, talk, "What is new?", queries=["The locker downstairs has the code 4482."])
    messages = ana.get("messages", conversation_id=str(talk)).json()["items"]
    (told,) = (row for row in messages if "4482" in row["content"])
    body = {"scope": "message", "id": told["id"], "reason": "It is a secret."}
    assert ana.post("erasures", body).status_code in {200, 202}
    assert not Retrieval.objects.of(ana.tenant).filter(query__contains="4482").exists()


@pytest.mark.parametrize(
    ("queries", "more", "field"),
    [
        (["a", "b", "c", "d", "e", "f"], {}, "queries"),
        (["Where?"], {"max_tokens": None}, "queries"),
        ([" "], {}, "queries.0"),
        ("Where?", {}, "queries"),
    ],
)
def test_at_most_five_with_a_budget(
    ana: Agent, conversation: uuid.UUID, queries: Any, more: dict[str, Any], field: str
) -> None:
    body = {"conversation_id": str(conversation), "query": "x", "max_tokens": 90, **more}
    assert_problem(ana.post("retrieve_memory", {**body, "queries": queries}), 400, field)

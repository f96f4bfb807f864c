"""How often a call waits for the database, however much it serves: BEGIN and COMMIT count, too."""

from __future__ import annotations

import tempfile
import uuid
from typing import Any

import pytest
from django.db import connection

from tests.conftest import Agent, tell

pytestmark = pytest.mark.django_db(transaction=True)


def count_messages(agent: Agent, call: str, **body: Any) -> int:
    """Return how many messages a call sends to the database."""
    connection.ensure_connection()
    server = connection.connection.pgconn
    with tempfile.TemporaryFile("w+") as file:
        server.trace(file.fileno())
        answer = agent.post(call, body)
        server.untrace()
        file.seek(0)
        sent = [line.split("\t") for line in file]
    assert answer.status_code in {200, 201}, answer.content
    # A key is believed for half a second, and looked up again after that.
    return sum(row[1:2] == ["F"] and "tenancy_apikey" not in row[-1] for row in sent)


@pytest.mark.parametrize(
    ("call", "extra", "at_most"),
    [
        ("context_pre_retrieve", {}, 5),
        ("retrieve_memory", {"detail": "none"}, 4),
        ("retrieve_memory", {"detail": "high"}, 5),
        ("retrieve_memory/raw", {}, 5),
        ("retrieve_memory", {"max_tokens": 2000}, 5),
        ("retrieve_memory/raw", {"max_tokens": 2000}, 5),
        ("retrieve_memory/raw", {"explain": True, "min_seq": 1}, 5),
    ],
)
def test_an_answer(ana: Agent, call: str, extra: dict[str, Any], at_most: int) -> None:
    told = tell(ana, uuid.uuid4())
    ana.say(told, "I am allergic to penicillin.", name="Mira")
    ana.flush(told)
    body = {"conversation_id": str(told), "query": "moving to Rotterdam, running", **extra}
    ana.post(call, body)  # the key's last use is recorded once a minute
    few = count_messages(ana, call, **body, semantic_limit=1)
    many = count_messages(ana, call, **body, semantic_limit=200)
    assert few == many <= at_most


def test_a_message(ana: Agent) -> None:
    told = uuid.uuid4()
    ana.say(told, "I have two dogs.")
    message = {"role": "user", "content": "They are called Rex and Bello."}
    assert count_messages(ana, "add_message", conversation_id=str(told), message=message) <= 5

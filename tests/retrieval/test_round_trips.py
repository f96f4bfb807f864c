"""How often a call waits for the database, however much it serves.

Counted is what goes over the wire: BEGIN and COMMIT, the look whether the connection lives, and
the limits as shipped.
"""

from __future__ import annotations

import tempfile
import uuid
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from jobs.models import Job, Kind
from memoryproject.tenancy import limits
from tests.conftest import Agent, tell
from tests.fresh import ana as ana

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def limits_as_shipped(settings: Settings) -> None:
    settings.KEY_RATE = settings.TENANT_RATE = 30_000
    settings.KEY_REMEMBERED_S = 60.0  # a key is believed for half a second, however long tests take


def count_messages(agent: Agent, call: str, **body: Any) -> int:
    """Return how many messages a call sends to the database, as one of many in a row."""
    connection.ensure_connection()
    assert connection.settings_dict["CONN_HEALTH_CHECKS"]
    limits.take_call(agent.key)
    server = connection.connection.pgconn
    with tempfile.TemporaryFile("w+") as file:
        server.trace(file.fileno())
        connection.close_if_unusable_or_obsolete()  # as before each request
        answer = agent.post(call, body)
        server.untrace()
        file.seek(0)
        sent = [line.split("\t") for line in file]
    assert answer.status_code in {200, 201}, answer.content
    # What a tenant stores is summed up once for many calls.
    return sum(row[1:2] == ["F"] and "tenancy_storedsize" not in row[-1] for row in sent)


@pytest.mark.parametrize(
    ("call", "extra", "at_most"),
    [
        ("context_pre_retrieve", {}, 4),
        ("retrieve_memory", {"detail": "none"}, 3),
        ("retrieve_memory", {"detail": "high"}, 4),
        ("retrieve_memory/raw", {}, 4),
        ("retrieve_memory", {"max_tokens": 2000}, 4),
        ("retrieve_memory/raw", {"max_tokens": 2000}, 4),
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
    assert count_messages(ana, "add_message", conversation_id=str(told), message=message) <= 4


def test_a_note_and_five_hundred_of_them(ana: Agent) -> None:
    ana.get("facts")  # the key's last use is recorded once a minute
    first = count_messages(ana, "notes", content="Tea is ready.")
    assert Job.objects.of(ana.tenant).filter(kind=Kind.EMBED).count() == 1
    second = count_messages(ana, "notes", content="Coffee is ready.")
    notes = [{"content": f"Cup {number} is ready."} for number in range(500)]
    many = count_messages(ana, "notes/batch", notes=notes)
    assert (first, second, many) == (7, 5, 5)


def test_calls_of_a_large_allowance_are_taken_some_at_a_time(ana: Agent) -> None:
    ahead = configured.KEY_RATE // limits.BURST_SHARE // limits.AHEAD_SHARE
    limits.set_rate(ana.key, configured.KEY_RATE)
    asked = [count_limits(ana) for _ in range(3 * ahead)]
    assert sum(asked) == 3


def count_limits(agent: Agent) -> int:
    """Return how often taking one call asks the database."""
    with CaptureQueriesContext(connection) as queries:
        limits.take_call(agent.key)
    return len(queries)

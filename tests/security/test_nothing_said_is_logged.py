"""What somebody sent, said or was told is in no log, no queue and no record of a failure.

The same once more with real processes, in test_logs_of_processes.
"""

from __future__ import annotations

import io
import json
import logging
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection
from django.test import Client
from pytest_django import Settings

from jobs.draining import drain_jobs
from jobs.models import Job, State
from memoryproject import embedded
from memoryproject.process import logs
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.jobs.poison import poisoned
from tests.llm.conftest import model as model
from tests.model_server import Asked, ModelServer, Reply, says, sends
from tests.security.canaries import CANARY, SENTENCE, Sent, all_requests


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What our formatters write of everything that is logged, down to DEBUG."""
    stream, root = io.StringIO(), logging.getLogger()
    handlers = [logging.StreamHandler(stream) for _ in logs.FORMATS]
    for handler, format in zip(handlers, logs.FORMATS, strict=True):
        handler.setFormatter(logs.make_formatter(format))
        root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


def describe_api() -> dict[str, Any]:
    answer = Client(SERVER_NAME="localhost").get("/api/v0/schema/", {"format": "json"})
    described: dict[str, Any] = json.loads(answer.content)
    return described


def send(agent: Agent, sent: Sent) -> int:
    headers = dict(sent.headers)
    answer = agent.client.generic(
        sent.method, sent.path, sent.body or "", content_type=sent.kind, headers=headers
    )
    return int(answer.status_code)


def held_in(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memory.tenant', '*', true)")
        cursor.execute(f"SELECT coalesce(string_agg(t::text, ' '), '') FROM {table} t")
        return str(cursor.fetchone()[0])


def read_server_log() -> str:
    return embedded.locate(configured.DATA_DIR).log.read_text(encoding="utf-8", errors="replace")


RECORDS = ("jobs_job", "django_q_ormq", "django_q_task", "django_q_schedule", "django_admin_log")


def assert_silent(written: io.StringIO, printed: str = "") -> None:
    for place, text in [
        ("the log", written.getvalue()),
        ("standard error", printed),
        ("PostgreSQL's log", read_server_log()),
        *((table, held_in(table)) for table in RECORDS),
    ]:
        found = text.lower().find(CANARY)
        assert found < 0, f"{place}: {text[max(0, found - 300) : found + 100]}"


@pytest.mark.django_db
def test_no_call_is_logged_with_what_it_carries(ana: Agent, written: io.StringIO) -> None:
    statuses: dict[int, int] = {}
    for sent in all_requests(describe_api()):
        status = send(ana, sent)
        statuses[status] = statuses.get(status, 0) + 1
        assert status != 500, sent
    assert_silent(written)
    lines = [line for line in written.getvalue().splitlines() if line.startswith("{")]
    asked = [line for line in map(json.loads, lines) if line["logger"] == "memory.access"]
    assert len(asked) > 250
    assert {200, 201, 400, 401, 404, 405} - set(statuses) <= {401, 405}, statuses
    assert CANARY in held_in("episodic_message"), "what is valid was taken in"


@pytest.mark.django_db
def test_a_stranger_and_a_form_are_not_quoted(written: io.StringIO) -> None:
    client = Client(SERVER_NAME="localhost")
    for path in (f"/{CANARY}", f"/admin/{CANARY}/?{CANARY}", f"/admin/login/?next=/{CANARY}"):
        client.get(path)
    client.post("/admin/login/", {"username": CANARY, "password": SENTENCE})
    client.get("/api/v0/facts", headers={"Authorization": f"Bearer mem_{CANARY}"})
    client.get("/api/v0/facts", headers={"Host": f"{CANARY}.example.com"})
    assert "memory.access" in written.getvalue()
    assert_silent(written)


def quote(asked: Asked) -> str:
    return f"{SENTENCE} {json.dumps(asked.body)[-2000:]}"


FAULTS: dict[str, Any] = {
    "prose": lambda asked: says(quote(asked)),
    "half of an answer": lambda asked: says('{"episodes": [{"title": "' + quote(asked)),
    "another form": lambda asked: says({"episodes": quote(asked), "facts": 1, CANARY: 2}),
    "wrong values": lambda asked: says(
        {"episodes": [{"first": CANARY, "last": -1, "title": SENTENCE}], "facts": [SENTENCE]}
    ),
    "a refusal that quotes": lambda asked: sends({"error": {"message": quote(asked)}}, status=400),
    "a failure that quotes": lambda asked: sends({"error": {"message": quote(asked)}}, status=500),
    "a wrong key": lambda asked: sends({"error": {"message": quote(asked)}}, status=401),
    "a page": lambda asked: Reply(body=f"<h1>{quote(asked)}</h1>".encode()),
    "nothing": lambda asked: Reply(drop=True),
}


@pytest.mark.gate
@pytest.mark.django_db
@pytest.mark.parametrize("fault", FAULTS)
def test_a_job_that_a_model_fails_says_nothing_of_it(
    fault: str,
    model: ModelServer,
    ana: Agent,
    conversation: uuid.UUID,
    settings: Settings,
    written: io.StringIO,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for purpose in ("segment", "consolidate", "review", "plain"):
        model.always(purpose, FAULTS[fault])
    said = [{"role": "user", "content": f"{SENTENCE} {number}"} for number in range(8)]
    body = {"conversation_id": str(conversation), "messages": said}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    drain_jobs()
    assert model.asked, "the model was asked"
    assert_silent(written, capfd.readouterr().err)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("table", "column"),
    [("episodic_episode", "summary"), ("semantic_fact", "fact"), ("episodic_message", "content")],
)
def test_what_the_database_refuses_is_logged_without_the_row(
    table: str, column: str, ana: Agent, conversation: uuid.UUID, written: io.StringIO
) -> None:
    """PostgreSQL tells the row that it refuses, in the DETAIL of its error."""
    said = [
        {"role": "user", "name": "Ana", "content": f"I moved to poison {CANARY} street {number}."}
        for number in range(8)
    ]
    with poisoned(table, f"lower({column})"):
        body = {"conversation_id": str(conversation), "messages": said}
        assert ana.post("add_messages", body).status_code in (201, 500)
        ana.post("flush", {"conversation_id": str(conversation)})
        for _ in range(3):
            Job.across_tenants.filter(state=State.READY).update(run_after="2020-01-01T00:00:00Z")
            drain_jobs()
        assert "IntegrityError" in written.getvalue(), "it was refused"
        assert_silent(written)
    Job.across_tenants.all().delete()

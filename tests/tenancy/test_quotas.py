"""A tenant stores no more than it may, what it stores is counted exactly, and nobody waits."""

from __future__ import annotations

import io
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from pytest_django import Settings

from memoryproject.tenancy import quotas
from memoryproject.tenancy.models import StoredSize, Tenant
from memoryproject.tenancy.walls import across_tenants
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db
COUNT = """
SELECT count(*), coalesce(sum(octet_length(texts)), 0) FROM (
    SELECT content || metadata::text AS texts FROM episodic_message WHERE tenant_id = %(tenant)s
    UNION ALL SELECT label || description || content || excerpt || metadata::text
    FROM notes_note WHERE tenant_id = %(tenant)s
    UNION ALL SELECT label || description || content || excerpt || metadata::text
    FROM notes_noteversion WHERE tenant_id = %(tenant)s) AS stored
"""


@pytest.fixture(autouse=True)
def nothing_is_remembered(settings: Settings) -> None:
    settings.KEY_REMEMBERED_S = -1.0


def counted(tenant: Tenant) -> tuple[int, int]:
    """Return rows and bytes as the tables have them, which is what is kept of them."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"tenant": tenant.id})
        rows, size = cursor.fetchone()
    stored = quotas.measure_storage(tenant)
    assert (stored.rows, stored.bytes) == (rows, size)
    return rows, size


def erase(agent: Agent, scope: str, name: str) -> None:
    body = {"scope": scope, "id": name, "reason": "so"}
    assert agent.post("erasures", body).status_code == 200


def test_what_is_stored_is_counted_and_what_is_erased_no_more(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    ana.say(conversation, "é" * 10, metadata={"a": [1, 1e300]})
    message = ana.say(conversation, "I moved to Porto.")["message_id"]
    note = ana.post("notes", {"content": "a"}).json()["id"]
    patch = {"version": 1, "content": "b" * 1000}
    ana.client.patch(f"/api/v0/notes/{note}", patch, content_type="application/json")
    ana.post("notes", {"content": "c", "conversation_id": str(conversation)})
    rows, size = counted(ana.tenant)
    assert rows == 5 and size > 1000
    ana.client.delete(f"/api/v0/notes/{note}")
    assert counted(ana.tenant) == (rows, size), "a deleted note is still stored"
    ana.flush(conversation)
    assert counted(ana.tenant) == (rows, size)
    erase(ana, "message", message)
    assert counted(ana.tenant)[0] == 4
    erase(ana, "note", note)
    assert counted(ana.tenant)[0] == 2
    erase(ana, "conversation", str(conversation))
    assert counted(ana.tenant) == (0, 0) == counted(cleo.tenant)


def write_message(agent: Agent) -> Any:
    message = {"role": "user", "content": "x" * 100}
    return agent.post("add_message", {"conversation_id": str(CONVERSATION), "message": message})


def write_note(agent: Agent) -> Any:
    return agent.post("notes", {"content": "x" * 100})


def write_version(agent: Agent) -> Any:
    note = agent.get("notes").json()["items"][0]
    body = {"version": note["version"], "content": "y" * (100 + note["version"])}
    return agent.client.patch(f"/api/v0/notes/{note['id']}", body, content_type="application/json")


CONVERSATION = uuid.uuid4()


@pytest.mark.parametrize("write", [write_message, write_note, write_version])
@pytest.mark.parametrize("name", [quotas.BYTES, quotas.ROWS])
def test_what_would_be_more_than_the_quota_is_not_stored(
    ana: Agent, cleo: Agent, write: Callable[[Agent], Any], name: str
) -> None:
    first = write_note(ana).json()["id"]
    rows, size = counted(ana.tenant)
    quotas.set_quota(ana.tenant, {name: {quotas.ROWS: rows + 1, quotas.BYTES: size + 300}[name]})
    while (answer := write(ana)).status_code < 300:
        assert counted(ana.tenant)[0] <= rows + 3
    full = counted(ana.tenant)
    assert full[0] > rows
    problem = assert_problem(answer, 413)
    stored, limit = full[name == quotas.BYTES], ana.tenant.settings[name]
    assert problem["code"] == "over_quota"
    assert f"stores {stored} " in problem["message"] and f"may store {limit};" in problem["message"]
    assert counted(ana.tenant) == full
    assert write_note(cleo).status_code == 201
    if write is not write_version:
        erase(ana, "note", first)
        assert write(ana).status_code == 201, "an erasure gives room back"


def test_a_replay_needs_no_room(ana: Agent, conversation: uuid.UUID) -> None:
    body = {"conversation_id": str(conversation), "message": {"role": "user", "content": "hi"}}
    assert ana.post("add_message", body, idempotency_key="a").status_code == 201
    quotas.set_quota(ana.tenant, {quotas.ROWS: 1})
    assert ana.post("add_message", body, idempotency_key="a").status_code == 200
    assert_problem(ana.post("add_message", body, idempotency_key="b"), 413)


def test_usage_shows_what_is_stored_and_may_be(
    ana: Agent, cleo: Agent, settings: Settings, django_assert_num_queries: Any
) -> None:
    settings.TENANT_BYTES, settings.TENANT_ROWS = 500, 0
    write_note(ana)
    rows, size = counted(ana.tenant)
    limits = {"bytes_limit": 500, "rows_limit": None}
    assert ana.get("usage").json()["stored"] == {"rows": rows, "bytes": size, **limits}
    assert cleo.get("usage").json()["stored"] == {"rows": 0, "bytes": 0, **limits}
    quotas.set_quota(ana.tenant, {quotas.BYTES: 0})
    with django_assert_num_queries(0):
        quotas.check_quota(ana.tenant, more_rows=10**9, more_bytes=10**12)


def test_a_quota_is_set_from_the_command_line(ana: Agent) -> None:
    def set_quota(*words: str) -> str:
        out = io.StringIO()
        with across_tenants():
            call_command("tenant", ana.tenant.name, *words, stdout=out)
        ana.tenant.refresh_from_db()
        return out.getvalue()

    said = set_quota("--stored-bytes", "5000", "--stored-rows", "0")
    assert ana.tenant.settings == {"quota_bytes": 5000, "quota_rows": 0}
    assert "stored: 0 bytes in 0 messages" in said and "notes: no limit" in said
    assert "bytes: 5000, messages" in set_quota("--stored-rows", "default")
    assert ana.tenant.settings == {"quota_bytes": 5000}
    for words in (["--stored-rows", "x"], ["--stored-bytes=-1"]):
        with pytest.raises(CommandError):
            set_quota(*words)


# ---- at once


@pytest.mark.django_db(transaction=True)
def test_no_writer_waits_for_another_and_all_are_counted() -> None:
    """Eight conversations: each transaction is open until all have written."""
    agent = make_agent("ana's", "ana")
    barrier = threading.Barrier(8, timeout=120)

    def write(number: int) -> None:
        with across_tenants(), transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT public.memory_add_stored(%s, 1, %s)", [agent.tenant.id, number]
                )
            barrier.wait()

    def work(number: int) -> None:
        try:
            for _ in range(3):
                write(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    stored = quotas.measure_storage(agent.tenant)
    assert (stored.rows, stored.bytes) == (24, 3 * sum(range(8)))
    assert StoredSize.objects.of(agent.tenant).count() == 8, "a counter is taken up again"

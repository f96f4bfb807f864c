"""Notes come in batches: all or none, once under a key, by as many statements as one."""

from __future__ import annotations

import threading
import time
import uuid

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from indexing.models import SearchUnit, SearchVector
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from memoryproject.tenancy.walls import acting_for
from tests.api.problems import assert_problem
from tests.api.threads import THREADS, run_in_threads
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.notes.graphs import write
from tests.notes.test_finding import found
from wings.notes import services
from wings.notes.models import Note

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "k"}


def batch(count: int) -> list[dict[str, str]]:
    """Return bodies of notes, each with a word of its own."""
    return [{"content": f"Shelf number{index} holds tea."} for index in range(count)]


def count_statements(agent: Agent, count: int) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert agent.post("notes/batch", {"notes": batch(count)}).status_code == 201
    # Whether the key is looked up again depends on the clock.
    return len([one for one in captured if "tenancy_apikey" not in one["sql"]])


@pytest.mark.gate
def test_500_notes_are_stored_in_order_and_once_and_are_found(ana: Agent) -> None:
    body = {"notes": batch(500)}
    first = ana.post("notes/batch", body, **KEY)
    assert (first.status_code, first["Memory-Indexed"]) == (201, "words")
    ids = [note["id"] for note in first.json()["notes"]]
    assert found("number0") == {ids[0]} and found("number499") == {ids[499]}
    assert not SearchVector.objects.of(ana.tenant).exists()
    again = ana.post("notes/batch", body, **KEY)
    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    assert again.json() == first.json()
    assert_problem(ana.post("notes/batch", {"notes": batch(499)}, **KEY), 409)
    assert_problem(ana.post("notes", batch(1)[0], **KEY), 409)
    job = Job.objects.of(ana.tenant).get()
    assert (job.kind, job.scope) == (Kind.EMBED, ana.tenant.id)
    assert drain_jobs().dead == 0
    vectors = SearchVector.objects.of(ana.tenant).values_list("memory_id", flat=True)
    assert {str(memory) for memory in vectors} == set(ids)
    assert Note.objects.of(ana.tenant).count() == 500


def test_a_batch_costs_as_many_statements_as_a_note(ana: Agent) -> None:
    write(ana)  # its job waits, and the key's last use is written
    assert count_statements(ana, 1) == count_statements(ana, 40) <= 8


def test_of_a_batch_with_a_bad_note_nothing_is_stored(ana: Agent) -> None:
    for bad, field in (
        ({"content": 7}, "notes.1.content"),
        ({"tags": ["empty"]}, "notes.1.content"),
        ({"content": "x", "conversation_id": str(uuid.uuid4())}, "notes.1.conversation_id"),
    ):
        answer = ana.post("notes/batch", {"notes": [*batch(1), bad, *batch(1)]})
        assert_problem(answer, 400, field)
    assert_problem(ana.post("notes/batch", {"notes": []}), 400, "notes")
    assert_problem(ana.post("notes/batch", {"notes": batch(501)}), 413, "notes")
    assert not Note.objects.of(ana.tenant).exists()
    assert not Job.objects.of(ana.tenant).exists()


def test_a_batch_belongs_to_its_conversation_and_tenant(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    body = {"conversation_id": str(conversation), "notes": batch(2)}
    answer = ana.post("notes/batch", body, **KEY)
    items = ana.get("notes", conversation_id=str(conversation)).json()["items"]
    assert {item["id"] for item in items} == {note["id"] for note in answer.json()["notes"]}
    assert cleo.get("notes").json()["items"] == []
    assert cleo.post("notes/batch", body, **KEY).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_many_equal_batches_one_is_stored(ana: Agent) -> None:
    body = {"notes": batch(5)}
    answers = run_in_threads(lambda index: ana.post("notes/batch", body, **KEY))
    assert sorted(answer.status_code for answer in answers) == [200] * (THREADS - 1) + [201]
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert Note.objects.of(ana.tenant).count() == SearchUnit.objects.of(ana.tenant).count() == 5


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("in_conversation", [False, True])
def test_a_job_does_not_end_before_a_note_that_relies_on_it(
    ana: Agent, conversation: uuid.UUID, in_conversation: bool
) -> None:
    """The note found the job waiting, and is committed when that has made all other vectors."""
    home = conversation if in_conversation else None
    write(ana, **({"conversation_id": str(home)} if home else {}))

    def drain() -> None:
        with acting_for(ana.tenant.id):
            drain_jobs()
        connections.close_all()

    draining = threading.Thread(target=drain)
    with transaction.atomic():
        services.add_note(
            tenant=ana.tenant, actor="", made_by=None, fields={"source_type": "note",
            "content": "Late."}, conversation_id=home,
        )  # fmt: skip
        draining.start()
        until = time.monotonic() + 60
        while Job.objects.of(ana.tenant).get().state != State.RUNNING:
            assert time.monotonic() < until and draining.is_alive()
            time.sleep(0.05)
        draining.join(timeout=1)
        assert draining.is_alive(), "it waits for the one that adds"
        assert Job.objects.of(ana.tenant).get().state == State.RUNNING
    draining.join(timeout=60)
    assert SearchVector.objects.of(ana.tenant).count() == 2
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}

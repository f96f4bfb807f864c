"""Several at once write notes; nothing is written twice, and no version gets lost."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.db import connections, transaction

from indexing import services as index
from indexing.models import SearchUnit, SearchVector
from memoryproject.ai import embeddings
from tests.api.threads import THREADS, run_in_threads
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.notes.graphs import write
from tests.notes.test_writing import change
from wings.notes.models import Note, NoteVersion

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_many_equal_requests_one_note_comes(ana: Agent, conversation: uuid.UUID) -> None:
    body = {"content": "Once.", "conversation_id": str(conversation)}
    answers = run_in_threads(lambda index: ana.post("notes", body, **{"Idempotency-Key": "k"}))
    assert sorted(answer.status_code for answer in answers) == [200] * (THREADS - 1) + [201]
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert Note.objects.of(ana.tenant).count() == SearchUnit.objects.of(ana.tenant).count() == 1


def test_of_many_changes_of_one_version_one_is_made(ana: Agent) -> None:
    note = write(ana)
    answers = run_in_threads(lambda index: change(ana, note, version=1, content=f"By {index}."))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (THREADS - 1)
    (made,) = (answer.json() for answer in answers if answer.status_code == 200)
    assert ana.get(f"notes/{note}").json() == made
    assert NoteVersion.objects.of(ana.tenant).count() == 1
    assert SearchUnit.objects.of(ana.tenant).count() == 1


def test_a_note_is_deleted_once(ana: Agent) -> None:
    note = write(ana)
    statuses = run_in_threads(lambda index: ana.client.delete(f"/api/v0/notes/{note}").status_code)
    assert sorted(statuses) == [204] + [404] * (THREADS - 1)


def test_a_vector_that_comes_while_a_note_is_deleted_goes_with_it(
    ana: Agent,
) -> None:
    note = write(ana)
    unit = SearchUnit.objects.of(ana.tenant).get()
    vectors = embeddings.embed_passages(["A note."])
    statuses: list[int] = []

    def delete() -> None:
        statuses.append(ana.client.delete(f"/api/v0/notes/{note}").status_code)
        connections.close_all()

    deleting = threading.Thread(target=delete)
    with transaction.atomic():
        index.add_vectors(
            tenant=ana.tenant, units=[unit], vectors=vectors, states=[None], model="test"
        )
        deleting.start()
        deleting.join(timeout=0.5)
        assert deleting.is_alive(), "it waits for the one that adds"
    deleting.join(timeout=60)
    assert statuses == [204]
    assert not SearchVector.objects.of(ana.tenant).exists()
    assert not SearchUnit.objects.of(ana.tenant).exists()

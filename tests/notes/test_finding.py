"""A note is in the index as it stands: by its words, and by what it means."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Conversation
from indexing import tenant_search
from indexing.models import MemoryKind, SearchUnit, SearchVector, ShelfSize, UnitKind
from indexing.queries import units_without_vector
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from memoryproject.ai import embeddings
from memoryproject.ai.models import Breaker
from memoryproject.tenancy.walls import across_tenants
from tests.conftest import Agent
from tests.embedders import embedding_by
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.model_server import Asked, ModelServer, Reply, embeds, fails, run_model_server
from tests.notes.graphs import write
from tests.notes.test_writing import THREAD, change
from wings.notes import services
from wings.notes.wording import PASSAGE_AT_MOST

pytestmark = pytest.mark.django_db
CHAPTERS = 8
LONG = "\n\n".join(
    f"Chapter {number}. " + f"What matters here is word{number}. " * 30
    for number in range(CHAPTERS)
)


def found(typed: str) -> set[str]:
    """Return the ids of the notes that hold all the words."""
    matches = tenant_search.find(tenant_search.read_query(typed), kind=UnitKind.NOTE)
    return {str(match.memory_id) for match in matches.found}


def test_a_note_is_found_by_all_its_texts(ana: Agent) -> None:
    note = write(
        ana, "The kettle sings.", label="Morning", description="How a day begins", tags=["steam"],
        category="habit", source_path="library/dawn.md", excerpt="whistling",
    )  # fmt: skip
    write(ana, "Something else.")
    for word in ("kettle", "Morning", "begins", "steam", "habit", "dawn", "whistling"):
        assert found(word) == {note}, word
    unit = SearchUnit.objects.of(ana.tenant).filter(memory=note).get()
    assert (unit.kind, unit.shelf, unit.conversation_id) == ("note", "note", None)
    assert ShelfSize.objects.of(ana.tenant).get().units == 2


def test_a_summary_is_found_by_what_follows_from_its_metadata(ana: Agent) -> None:
    answer = ana.post("notes", {"source_type": "thread_summary", "metadata": THREAD})
    assert found("pricing instagram") == {answer.json()["id"]}


def test_a_note_of_a_conversation_lies_in_it(ana: Agent, told: uuid.UUID) -> None:
    note = write(ana, "Mira's canal boat is green.", conversation_id=str(told))
    conversation = Conversation.objects.of(ana.tenant).get()
    assert drain_jobs().dead == 0
    unit = SearchUnit.objects.of(ana.tenant).get(memory=note)
    vector = SearchVector.objects.of(ana.tenant).get(memory=note)
    assert unit.conversation_id == vector.conversation_id == conversation.id
    assert unit.language == conversation.language


def test_the_nearest_by_meaning_is_the_note_that_says_it(ana: Agent) -> None:
    note = write(ana, "The cat sleeps on the sofa all day.")
    write(ana, "Quarterly revenue grew by ten percent.")
    assert drain_jobs().dead == 0
    question = embeddings.embed_query("Where does the kitten nap?")
    rows = SearchVector.objects.of(ana.tenant).filter(shelf=MemoryKind.NOTE)
    near = max(rows, key=lambda row: float(np.dot(np.array(row.embedding), question)))
    assert str(near.memory_id) == note


def test_a_new_version_takes_the_place_of_the_one_before(ana: Agent) -> None:
    note = write(ana, "The kettle sings.")
    drain_jobs()
    before = SearchVector.objects.of(ana.tenant).get().embedding
    assert change(ana, note, version=1, content="The toaster hums.").status_code == 200
    assert found("kettle") == set() and found("toaster") == {note}
    drain_jobs()
    after = SearchVector.objects.of(ana.tenant).get()
    assert list(after.embedding) != list(before)
    assert ShelfSize.objects.of(ana.tenant).get().units == 1


def test_a_long_note_is_found_by_each_of_its_parts(ana: Agent) -> None:
    note = write(ana, LONG)
    units = list(SearchUnit.objects.of(ana.tenant).order_by("first_seq", "id"))
    parts = {unit.first_seq for unit in units}
    assert parts == set(range(len(parts))) and len(parts) >= len(LONG) // PASSAGE_AT_MOST
    for number in range(CHAPTERS):
        assert found(f"word{number}") == {note}


@pytest.mark.gate
def test_the_vectors_of_a_long_note_are_made_by_a_job(ana: Agent) -> None:
    write(ana, LONG)
    assert not SearchVector.objects.of(ana.tenant).exists()
    job = Job.objects.of(ana.tenant).get()
    assert (job.kind, job.scope) == (Kind.EMBED, ana.tenant.id)
    assert drain_jobs().dead == 0
    model = embeddings.get_embedder().name
    parts = SearchUnit.objects.of(ana.tenant).values("first_seq").distinct().count()
    vectors = SearchVector.objects.of(ana.tenant)
    assert vectors.count() == vectors.values("unit__first_seq").distinct().count() == parts
    lacking = units_without_vector(tenant=ana.tenant, conversation_id=None, model=model, at_most=9)
    assert lacking == []


@pytest.fixture
def remote(settings: Settings) -> Iterator[ModelServer]:
    """The whole server embeds by an endpoint, which the test scripts."""
    with run_model_server() as server, embedding_by(server.url, settings):
        yield server


def embed_words(asked: Asked) -> Reply:
    """Answer a vector a text that depends on the text alone."""
    digests = [hashlib.sha256(text.encode()).digest() for text in asked.body["input"]]
    return embeds([[byte - 127.5 for byte in digest[:8]] for digest in digests])


def drain_when_due(agent: Agent) -> None:
    """Let what waits for the endpoint be done now."""
    Breaker.objects.all().delete()
    Job.objects.of(agent.tenant).filter(state=State.READY).update(run_after=Now())
    drain_jobs()


def test_while_the_model_is_away_words_find_a_note_and_later_meaning_does(
    remote: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    remote.always("embed", fails(503))
    notes = {
        write(ana, "The kettle sings."),
        write(ana, "The kettle hums.", conversation_id=str(conversation)),
    }
    assert found("kettle") == notes
    assert not SearchVector.objects.of(ana.tenant).exists()
    scopes = {job.scope for job in Job.objects.of(ana.tenant)}
    assert scopes == {ana.tenant.id, Conversation.objects.of(ana.tenant).get().id}
    remote.always("embed", embed_words)
    for _ in range(3):
        drain_when_due(ana)
    rows = SearchVector.objects.of(ana.tenant).filter(model="scripted")
    assert {str(row.memory_id) for row in rows} == notes
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}


def test_after_a_change_of_the_model_a_command_makes_the_vectors_of_notes_anew(
    ana: Agent, request: pytest.FixtureRequest
) -> None:
    write(ana, "The kettle sings.")
    request.getfixturevalue("remote").always("embed", embed_words)
    said = StringIO()
    call_command("make_vectors", tenant=ana.tenant.name, stdout=said)
    assert "notes beside them" in said.getvalue()
    drain_jobs()
    assert SearchVector.objects.of(ana.tenant).filter(model="scripted").count() == 1
    again = StringIO()
    call_command("make_vectors", tenant=ana.tenant.name, stdout=again)
    assert "notes" not in again.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("becomes", ["changed", "deleted"])
def test_a_note_that_goes_while_its_vectors_are_made_gets_none(
    remote: ModelServer, ana: Agent, becomes: str
) -> None:
    remote.always("embed", embed_words)
    note = uuid.UUID(write(ana, LONG))
    gone: list[bool] = []

    @across_tenants()
    def meanwhile(asked: Asked) -> Reply:
        if not gone:
            gone.append(True)
            whose = {"tenant": ana.tenant, "actor": "ana", "note_id": note}
            if becomes == "changed":
                services.change_note(**whose, version=1, fields={"content": "Short."})
            else:
                services.delete_note(**whose)
            connections.close_all()
        return embed_words(asked)

    remote.always("embed", meanwhile)
    assert drain_jobs().dead == 0 and gone
    vectors = SearchVector.objects.of(ana.tenant)
    assert vectors.count() == (1 if becomes == "changed" else 0)
    assert SearchUnit.objects.of(ana.tenant).count() == vectors.count()
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}

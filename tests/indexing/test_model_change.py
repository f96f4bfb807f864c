"""Another embedding model, with nothing that is not found meanwhile: both answer side by side."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Conversation
from indexing.models import SearchUnit, SearchVector
from indexing.queries import conversations_without_vectors
from jobs import claims
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from memoryproject.process.crash_points import Point
from retrieval.models import Retrieval, RetrievalHit
from retrieval.vectors import make_vectors
from tests.conftest import Agent, tell
from tests.embedders import forget_embedders
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.jobs.test_crash_points import Forker, finish, start_forker
from tests.notes.test_writing import add

OLD, NEW = "e5-small-q4", "minilm-l6-v2-int8"
QUERY = "How many cartons of novels and what heavy instrument?"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget_embedders()


def choose(settings: Settings, now: str, old: str = "none") -> None:
    """Start the server anew with other models."""
    settings.EMBEDDINGS, settings.OLD_EMBEDDINGS = now, old
    forget_embedders()


def command(**options: object) -> str:
    said = StringIO()
    call_command("make_vectors", stdout=said, **options)
    return said.getvalue()


def retrieve(agent: Agent, conversation: uuid.UUID) -> str:
    """Ask in a conversation, see that meaning finds it, and return the model that did."""
    body = {"conversation_id": str(conversation), "query": QUERY, "max_tokens": 1000}
    return read_receipt(agent.post("retrieve_memory", body))


def search(agent: Agent) -> str:
    """Search all of the tenant, and do the same."""
    return read_receipt(agent.post("search", {"query": QUERY, "max_tokens": 1000}))


def read_receipt(answer: Any) -> str:
    assert answer.status_code == 200 and "forty boxes of books" in answer.content.decode()
    assert not answer.has_header("Memory-Degraded")
    receipt = Retrieval.across_tenants.get(id=answer["Memory-Receipt"])
    assert RetrievalHit.across_tenants.filter(retrieval=receipt, vector_rank__gte=1).exists()
    return receipt.embedding_model


def count(agent: Agent, model: str) -> int:
    return SearchVector.objects.of(agent.tenant).filter(model=model).count()


def move_a_batch(agent: Agent) -> None:
    """Let a worker make one batch, which is one conversation here, and go on later."""
    forget_embedders()
    job = Job.objects.of(agent.tenant).get(kind=Kind.EMBED, state=State.READY)
    claim = claims.claim(job.id)
    assert claim is not None
    claim.run_until = 0.0
    make_vectors(claim)


@pytest.mark.django_db
def test_each_conversation_is_answered_by_the_model_that_has_all_its_vectors(
    settings: Settings, ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    talks = [tell(ana, conversation), tell(ana, uuid.uuid4())]
    strange = tell(cleo, uuid.uuid4())
    add(ana, content="A heavy piano and forty boxes of books are in the van.")
    drain_jobs()
    made = count(ana, OLD)

    choose(settings, "minilm", old="local")
    assert {retrieve(ana, talk) for talk in talks} == {search(ana)} == {OLD}
    assert command(status=True, tenant=ana.tenant.name) == (
        "ana's: 2 conversations, and notes beside them; not being made\n"
    )
    assert "2 conversations, and notes beside them; being made" in command(tenant=ana.tenant.name)
    move_a_batch(ana)  # the notes come first
    move_a_batch(ana)
    assert sorted(retrieve(ana, talk) for talk in talks) == [OLD, NEW] and search(ana) == OLD

    assert "1 conversations; not being made" in command(pause=True, tenant=ana.tenant.name)
    drain_jobs()
    forget_embedders()
    assert sorted(retrieve(ana, talk) for talk in talks) == [OLD, NEW] and search(ana) == OLD

    for talk in talks:  # what is said meanwhile gets vectors of both, wherever it is said
        ana.say(talk, "My violin teacher is called Aurelio.")
        ana.flush(talk)
    violin = SearchUnit.objects.of(ana.tenant).filter(lexical_text__contains="aurelio")
    assert violin.count() >= 2
    for model in (OLD, NEW):
        vectors = SearchVector.objects.of(ana.tenant).filter(model=model, unit__in=violin)
        assert vectors.count() == violin.count()

    command(tenant=ana.tenant.name)
    drain_jobs()
    forget_embedders()
    assert {retrieve(ana, talk) for talk in talks} == {search(ana)} == {NEW}
    assert command(status=True, tenant=ana.tenant.name) == "ana's: 0 conversations\n"
    assert count(ana, OLD) == count(ana, NEW) > made
    assert retrieve(cleo, strange) == OLD and count(cleo, NEW) == 0

    choose(settings, "local", old="minilm")  # and back
    assert {retrieve(ana, talk) for talk in talks} == {search(ana)} == {OLD}
    with pytest.raises(CommandError, match="in use"):
        command(delete=NEW)
    choose(settings, "local")
    old = count(cleo, OLD)
    assert f"ana's: {count(ana, NEW)} vectors deleted" in command(delete=NEW)
    assert count(ana, NEW) == 0 and count(cleo, OLD) == old
    assert {retrieve(ana, talk) for talk in talks} == {search(ana)} == {OLD}


@pytest.fixture(scope="module")
def changing() -> Iterator[Forker]:
    """Workers whose model has been changed."""
    yield from start_forker(MEMORY_EMBEDDINGS="minilm", MEMORY_OLD_EMBEDDINGS="local")


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_change_of_the_model_survives_kills_and_answers_between_them(
    settings: Settings, changing: Forker, ana: Agent
) -> None:
    talks = [tell(ana, uuid.uuid4()) for _ in range(4)]
    choose(settings, "minilm", old="local")
    command(tenant=ana.tenant.name)
    for point in (Point.VECTORS_MADE, Point.VECTORS_WRITTEN):
        for passage in (1, 2):
            Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(lease_until=Now())
            assert changing.run("drain", at=point, passage=passage)
            forget_embedders()
            assert {retrieve(ana, talk) for talk in talks} <= {OLD, NEW} and search(ana) == OLD
    finish(changing, ana)
    forget_embedders()
    assert {retrieve(ana, talk) for talk in talks} == {search(ana)} == {NEW}
    assert conversations_without_vectors(tenant=ana.tenant, model=NEW) == []
    assert Conversation.objects.of(ana.tenant).count() == len(talks)
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}

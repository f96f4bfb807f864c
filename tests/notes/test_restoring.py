"""A deleted note can be held again, and is then as if it had not been deleted."""

from __future__ import annotations

import uuid

import pytest

from indexing.models import SearchUnit, SearchVector
from jobs.draining import drain_jobs
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, write
from wings.notes import services
from wings.notes.models import Note

pytestmark = pytest.mark.django_db


def units_of(agent: Agent, note: str) -> list[tuple[str, int | None, str]]:
    """Return what finds a note, by its parts."""
    units = SearchUnit.objects.of(agent.tenant).filter(memory_id=note).order_by("first_seq")
    drain_jobs()
    assert SearchVector.objects.of(agent.tenant).filter(memory_id=note).count() == len(units)
    return list(units.values_list("lexical_text", "first_seq", "language"))


def test_a_note_that_is_held_again_is_found_shown_and_listed_as_before(
    ana: Agent, conversation: uuid.UUID
) -> None:
    note = write(ana, "The kettle sings.", tags=["kitchen"], conversation_id=str(conversation))
    shown, units = ana.get(f"notes/{note}").json(), units_of(ana, note)
    services.delete_note(tenant=ana.tenant, actor="bo", note_id=uuid.UUID(note))
    assert units_of(ana, note) == []
    assert ana.post(f"notes/{note}/restore", {}).json() == shown
    assert Note.objects.of(ana.tenant).get(id=note).deleted_by == ""
    assert ana.get(f"notes/{note}").json() == shown
    assert units_of(ana, note) == units


def test_what_is_held_and_what_is_a_strangers_cannot_be_restored(ana: Agent, cleo: Agent) -> None:
    held, hers = write(ana), write(cleo)
    services.delete_note(tenant=cleo.tenant, actor="cleo", note_id=uuid.UUID(hers))
    for note, status in ((held, 409), (hers, 404), (UNKNOWN, 404)):
        assert_problem(ana.post(f"notes/{note}/restore", {}), status)
    assert Note.objects.of(cleo.tenant).get(id=hers).deleted_at is not None

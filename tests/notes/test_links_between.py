"""Every link among some memories is read at once: the tenant's own, held, each in its direction."""

from __future__ import annotations

import uuid
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodic.models import Episode
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, link, write
from wings.navigation import links

pytestmark = pytest.mark.django_db


def between(tenant: Tenant, *memories: object, **only: object) -> set[tuple[str, str, str]]:
    """Return the links as triples (from, type, to)."""
    ids = [uuid.UUID(str(one)) for one in memories]
    found = links.links_between(tenant=tenant, memory_ids=ids, **only)  # type: ignore[arg-type]
    triples = {(str(one.from_id), one.link_type, str(one.to_id)) for one in found}
    assert len(triples) == len(found)
    return triples


def test_only_links_with_both_ends_among_the_memories_are_told(ana: Agent) -> None:
    near, far, outside = write(ana, "A."), write(ana, "B."), write(ana, "C.")
    link(ana, near, far, "supports")
    link(ana, near, far, "mentions")
    link(ana, far, near, "supports")
    link(ana, far, outside)
    everything = {(near, "supports", far), (near, "mentions", far), (far, "supports", near)}
    assert between(ana.tenant, near, far, UNKNOWN) == everything
    assert between(ana.tenant, near, far, link_types=["mentions"]) == {(near, "mentions", far)}
    assert between(ana.tenant, near) == between(ana.tenant) == set()


def test_a_deleted_note_and_a_strangers_memory_are_no_ends(ana: Agent, cleo: Agent) -> None:
    near, gone = write(ana, "A."), write(ana, "B.")
    link(ana, near, gone)
    ana.client.delete(f"/api/v0/notes/{gone}")
    assert between(ana.tenant, near, gone) == set()
    hers, too = write(cleo, "Hers."), write(cleo, "Hers, too.")
    link(cleo, hers, too)
    assert between(ana.tenant, near, hers, too) == set()
    assert len(between(cleo.tenant, near, hers, too)) == 1


def test_what_the_server_derives_is_among_them(ana: Agent, told: uuid.UUID) -> None:
    episodes = list(Episode.objects.of(ana.tenant).order_by("first_seq"))
    evidence = list(Evidence.objects.of(ana.tenant))
    memories = {one.id for one in episodes} | {one.fact_id for one in evidence}
    found = between(ana.tenant, *memories)
    derived = {(str(one.fact_id), "derived_from", str(one.episode_id)) for one in evidence}
    follows = {(str(one.id), "next", str(later.id)) for one, later in pairwise(episodes)}
    assert found == derived | follows and follows


def test_it_is_one_statement(ana: Agent) -> None:
    notes = [write(ana, f"Note {at}.") for at in range(6)]
    with CaptureQueriesContext(connection) as asked:
        between(ana.tenant, *notes)
    assert len(asked) == 1

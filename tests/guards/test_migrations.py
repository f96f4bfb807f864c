"""Migrations run forth and back, and match the models."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connections

from events.models import Event
from memoryproject.tenancy.models import Tenant
from tests.migrating import migrated_database

pytestmark = pytest.mark.gate

OURS = ["tenancy", "jobs", "indexing", "episodic", "semantic", "notes", "retrieval", "console"]


@pytest.mark.django_db
def test_no_model_lacks_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_every_migration_can_be_taken_back_and_run_again() -> None:
    """On a database of its own, so that the other tests keep theirs."""
    with migrated_database("memory_forth_and_back"):
        for label in reversed(OURS):
            call_command("migrate", label, "zero", verbosity=0)
        call_command("migrate", verbosity=0)
        assert "semantic_fact" in connections["owner"].introspection.table_names()


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_events_for_people_go_where_they_are_taken_back() -> None:
    with migrated_database("memory_people_back"), connections["owner"].cursor() as cursor:
        cursor.execute("SET memory.tenant = '*'")
        tenant = Tenant.objects.using("owner").create(name="ana's")
        Event(tenant=tenant, type="job.dead", scope=tenant.id, data={}).save(using="owner")
        cursor.execute("RESET memory.tenant")
        call_command("migrate", "events", "0001", verbosity=0)
        cursor.execute("SET memory.tenant = '*'")
        cursor.execute("SELECT count(*) FROM events_event")
        assert cursor.fetchone() == (0,)

"""Migrations run forth and back, and match the models."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connections

from tests.guards.test_tenant_walls import OURS
from tests.migrating import migrated_database

pytestmark = pytest.mark.gate


@pytest.mark.django_db
def test_no_model_lacks_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_every_migration_can_be_taken_back_and_run_again() -> None:
    """On a database of its own, so that the other tests keep theirs."""
    with migrated_database("memory_forth_and_back"):
        for label in reversed(OURS):
            call_command("migrate", label, "zero", verbosity=0)
        call_command("migrate", keep_no_copy=True, verbosity=0)
        assert "semantic_fact" in connections["owner"].introspection.table_names()

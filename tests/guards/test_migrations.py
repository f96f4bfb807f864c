"""Migrations run forth and back, and match the models."""

from __future__ import annotations

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections

OURS = ["tenancy", "jobs", "indexing", "episodic", "semantic", "retrieval", "console"]


@pytest.mark.django_db
def test_no_model_lacks_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_every_migration_can_be_taken_back_and_run_again() -> None:
    """On a database of its own, so that the other tests keep theirs."""
    owner = connections["owner"]
    name = "memory_forth_and_back"
    place = {
        "host": owner.settings_dict["HOST"],
        "port": owner.settings_dict["PORT"],
        "user": "memory_owner",
    }
    with psycopg.connect(dbname="memory", autocommit=True, **place) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    original = owner.settings_dict["NAME"]
    try:
        owner.close()
        owner.settings_dict["NAME"] = name
        call_command("migrate", verbosity=0)
        for label in reversed(OURS):
            call_command("migrate", label, "zero", verbosity=0)
        call_command("migrate", verbosity=0)
        assert "semantic_fact" in owner.introspection.table_names()
    finally:
        owner.close()
        owner.settings_dict["NAME"] = original
        with psycopg.connect(dbname="memory", autocommit=True, **place) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

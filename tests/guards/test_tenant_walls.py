"""Postgres itself refuses an edge between tenants, and code cannot forget to name one."""

from __future__ import annotations

import uuid

import pytest
from django.apps import apps
from django.db import IntegrityError, ProgrammingError, connection, transaction

from episodic.models import Conversation, Message
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.managers import UnscopedQuery
from memoryproject.tenancy.models import TenantModel
from memoryproject.tenancy.postgresql.schema import ON_ONE_NODE, reference_name
from semantic.models import Changeset
from tests.conftest import Agent

OURS = [
    "tenancy",
    "jobs",
    "events",
    "indexing",
    "episodic",
    "semantic",
    "notes",
    "retrieval",
    "console",
    "erasure",
    "instructions",
    "people",
]
MODELS = [model for label in OURS for model in apps.get_app_config(label).get_models()]
TENANT_MODELS = [model for model in MODELS if issubclass(model, TenantModel)]


def constraints_in_the_catalogue() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
        )
        return dict(cursor.fetchall())


@pytest.mark.django_db
def test_each_reference_between_rows_of_a_tenant_is_held_by_the_database() -> None:
    found = constraints_in_the_catalogue()
    references = [
        (model._meta.db_table, field.column, field.related_model._meta.db_table)
        for model in TENANT_MODELS
        for field in model._meta.local_fields
        if isinstance(field, TenantForeignKey)
        and field.related_model._meta.db_table not in ON_ONE_NODE
    ]
    references += [(f"{name}", "id", "indexing_memory") for name in SHARED_IDS]
    assert len(references) > 20
    for table, column, target in references:
        definition = found.get(reference_name(table, column), "missing")
        assert definition.startswith(
            f"FOREIGN KEY (tenant_id, {column}) REFERENCES {target}(tenant_id, id)"
        ), (table, column, definition)


SHARED_IDS = ["episodic_episode", "semantic_fact", "notes_note"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_each_reference_is_either_guarded_or_to_the_tenant(model: type) -> None:
    for field in model._meta.local_fields:  # type: ignore[attr-defined]
        if field.is_relation and not isinstance(field, TenantForeignKey):
            of_people = field.related_model._meta.app_label == "auth"
            assert field.name == "tenant" or of_people, f"{model.__name__}.{field.name}"


@pytest.mark.django_db
def test_a_message_cannot_be_put_into_a_strangers_conversation(ana: Agent, cleo: Agent) -> None:
    hers = Conversation.objects.create(tenant=ana.tenant, external_id=uuid.uuid4())
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        Message.objects.create(
            tenant=cleo.tenant,
            conversation_id=hers.id,
            seq=1,
            role="user",
            content="let me in",
            occurred_at=hers.created_at,
            pending_after=1,
        )


@pytest.mark.parametrize("model", TENANT_MODELS, ids=lambda model: model.__name__)
def test_rows_do_not_load_without_a_tenant(model: type[TenantModel]) -> None:
    with pytest.raises(UnscopedQuery):
        model.objects.all()
    with pytest.raises(UnscopedQuery):
        model.objects.create()


@pytest.mark.django_db
def test_the_serving_role_owns_nothing_and_changes_no_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, rolsuper, rolbypassrls FROM pg_roles "
                       "WHERE rolname = current_user")  # fmt: skip
        assert cursor.fetchone() == ("memory_app", False, False)
    for statement in ("DROP TABLE episodic_message", "CREATE TABLE mine (id int)"):
        with (
            pytest.raises(ProgrammingError, match=r"owner|permission"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


@pytest.mark.django_db
def test_history_can_be_added_to_but_not_changed(ana: Agent) -> None:
    changeset = Changeset.objects.create(
        tenant=ana.tenant, kind=Changeset.Kind.CURATION, actor="ana"
    )
    mine = Changeset.objects.of(ana.tenant).filter(id=changeset.id)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.update(actor="somebody else")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.delete()

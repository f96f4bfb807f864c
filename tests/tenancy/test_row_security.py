"""What row level security lets through, with rows in every table, and in requests that forget."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DataError, ProgrammingError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import reconciler
from jobs.models import Job, Kind, State
from jobs.tasks import run_job
from memoryproject import urls
from memoryproject.tenancy.models import APIKey, Scope, Tenant, TenantModel
from memoryproject.tenancy.views import KeyedView
from memoryproject.tenancy.walls import NOBODY, acting_for, seeing
from semantic.models import Fact
from tests.admin.conftest import leave_rows_everywhere
from tests.conftest import Agent, make_agent
from tests.emptying import delete_all_rows
from tests.guards.test_row_security import READ_BY_STATEMENTS
from wings.erasure.models import Erasure

pytestmark = pytest.mark.django_db

MODELS = [model for model in apps.get_models() if issubclass(model, TenantModel)]


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Agent, Agent]]:
    """Return ana, who has a row in every table, and cleo, who has none; gone after this file."""
    with django_db_blocker.unblock():
        ana, cleo = make_agent("ana's", "ana"), make_agent("cleo's", "cleo")
        leave_rows_everywhere(ana)
        if not Erasure.objects.of(ana.tenant).exists():
            note = ana.post("notes", {"content": "Forget it."}).json()["id"]
            body = {"scope": "note", "id": note, "reason": "It is over."}
            assert ana.post("erasures", body).status_code == 200
        source = {"reason": "No.", "since": "2020-01-01T00:00:00Z", "speaker": "Visitor"}
        ana.say(uuid.uuid4(), "Believe me.", name="Visitor")
        assert ana.post("rollbacks", source).status_code < 300
        yield ana, cleo
        delete_all_rows()


def count(model: type[TenantModel], tenant: Tenant) -> int:
    return model.across_tenants.filter(tenant=tenant).count()


def test_every_table_has_rows_to_be_hidden(past: tuple[Agent, Agent]) -> None:
    assert [model.__name__ for model in MODELS if not count(model, past[0].tenant)] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_nobody_and_a_stranger_see_no_row(
    model: type[TenantModel], past: tuple[Agent, Agent]
) -> None:
    ana, cleo = past
    everything = count(model, ana.tenant)
    with acting_for(ana.tenant.id):
        assert count(model, ana.tenant) == everything
    seen = everything if model._meta.db_table in READ_BY_STATEMENTS else 0
    with seeing(NOBODY):
        assert count(model, ana.tenant) == seen
    with acting_for(cleo.tenant.id):
        assert count(model, ana.tenant) == seen


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_nobody_and_a_stranger_change_no_row(
    model: type[TenantModel], past: tuple[Agent, Agent]
) -> None:
    """By the table alone: no manager, and no trigger that would refuse each change anyway."""
    ana, cleo = past
    table = model._meta.db_table
    for block in (seeing(NOBODY), acting_for(cleo.tenant.id)):
        with block, connection.cursor() as cursor:
            cursor.execute(f'DELETE FROM "{table}"')  # a name of the product's own
            assert cursor.rowcount in {0, own_rows(model, cleo)}, "only hers, if anybody's"
            cursor.execute(f'UPDATE "{table}" SET tenant_id = tenant_id WHERE tenant_id = %s',
                           [ana.tenant.id])  # fmt: skip
            assert cursor.rowcount == 0
    assert count(model, ana.tenant) > 0


def own_rows(model: type[TenantModel], agent: Agent) -> int:
    return 1 if model is APIKey else 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_row_is_written_for_somebody_else(
    model: type[TenantModel], past: tuple[Agent, Agent]
) -> None:
    """A copy of a row of hers, under an id of its own: the policy refuses it before all else."""
    ana, cleo = past
    columns = [field.column for field in model._meta.local_concrete_fields
               if field.column != "id" and not field.generated]  # fmt: skip
    row = model.across_tenants.filter(tenant=ana.tenant).values(*columns)[0]
    names = ", ".join(f'"{name}"' for name in columns)
    for block in (seeing(NOBODY), acting_for(cleo.tenant.id)):
        with (
            block,
            pytest.raises(ProgrammingError, match="row-level security"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            places = ", ".join(["%s"] * len(columns))
            cursor.execute(
                f'INSERT INTO "{model._meta.db_table}" (id, {names}) VALUES (%s, {places})',
                [uuid.uuid4(), *(as_parameter(model, name, row[name]) for name in columns)],
            )


def as_parameter(model: type[TenantModel], column: str, value: Any) -> Any:
    field = next(one for one in model._meta.local_concrete_fields if one.column == column)
    return field.get_db_prep_save(value, connection)


def test_a_tenant_sees_itself_alone(past: tuple[Agent, Agent]) -> None:
    ana, cleo = past
    with acting_for(cleo.tenant.id):
        assert [tenant.id for tenant in Tenant.objects.all()] == [cleo.tenant.id]
        assert Tenant.objects.filter(id=ana.tenant.id).update(name="mine") == 0
        assert [key.id for key in APIKey.across_tenants.all()] == [cleo.key.id]
    with seeing(NOBODY):
        assert not Tenant.objects.exists()


class Forgetful(KeyedView):
    """What a careless view would be like: it looks at the rows of all."""

    scope = Scope.READ

    def get(self, request: Request) -> Response:
        facts = Fact.across_tenants.values_list("id", flat=True)
        if request.query_params.get("fails"):
            raise ZeroDivisionError(list(facts))
        return Response([str(one) for one in facts])


def look(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(Fact.across_tenants.count()))


urlpatterns = [
    path("api/v0/forgetful", Forgetful.as_view()),
    path("api/v0/open", look),
    path("admin/look", look),
    *urls.urlpatterns,
]


@pytest.fixture
def careless(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__


@pytest.mark.usefixtures("careless")
def test_a_view_that_forgets_whose_rows_it_wants_shows_no_strangers(
    past: tuple[Agent, Agent],
) -> None:
    ana, cleo = past
    own = {str(one) for one in Fact.objects.of(ana.tenant).values_list("id", flat=True)}
    assert set(ana.get("forgetful").json()) == own
    assert cleo.get("forgetful").json() == []


@pytest.mark.usefixtures("careless")
def test_what_a_request_may_see_ends_with_it(past: tuple[Agent, Agent]) -> None:
    ana, _ = past
    anybody = Client(SERVER_NAME="localhost")
    with seeing(NOBODY):
        assert ana.get("forgetful").json() != []
        assert Fact.across_tenants.count() == 0
        assert anybody.get("/api/v0/open").content == b"0"
        assert ana.get("forgetful", fails="1").status_code == 500
        assert Fact.across_tenants.count() == 0
        assert anybody.get("/api/v0/open").content == b"0"


@pytest.mark.usefixtures("careless")
def test_in_the_admin_people_see_all_tenants_and_visitors_none(past: tuple[Agent, Agent]) -> None:
    person = User.objects.create_superuser("auditor")
    browser = Client(SERVER_NAME="localhost")
    with seeing(NOBODY):
        assert browser.get("/admin/look").content == b"0"
        browser.force_login(person)
        assert int(browser.get("/admin/look").content) > 0
        assert browser.get("/api/v0/open").content == b"0", "what is not the admin's"
        User.objects.filter(id=person.id).update(is_staff=False)
        assert browser.get("/admin/look").content == b"0"


def test_an_export_goes_on_when_its_view_has_returned(past: tuple[Agent, Agent]) -> None:
    ana, _ = past
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(User.objects.create_superuser("auditor"))
    wanted = {"tenant": ana.tenant.name, "table": "facts", "format": "jsonl"}
    with seeing(NOBODY):
        answer = browser.post("/admin/export/file/", wanted)
        assert answer.status_code == 200 and answer.streaming
        rows = b"".join(answer.streaming_content).splitlines()
        assert Fact.across_tenants.count() == 0
    assert len(rows) >= Fact.objects.of(ana.tenant).filter(invalid_at=None).count() > 0


def test_rows_in_parts_are_what_the_block_allows(past: tuple[Agent, Agent]) -> None:
    ana, cleo = past
    with acting_for(ana.tenant.id):
        assert len(list(Fact.across_tenants.iterator(chunk_size=2))) > 2
    with acting_for(cleo.tenant.id):
        assert list(Fact.across_tenants.iterator(chunk_size=2)) == []


def two_who_wait() -> list[Agent]:
    """Return two agents who have each asked for a flush, in tenants of their own."""
    agents = [make_agent("dora's", "dora"), make_agent("emil's", "emil")]
    for agent in agents:
        talk = uuid.uuid4()
        agent.say(talk, "I am allergic to peanuts.")
        assert agent.post("flush", {"conversation_id": str(talk)}).status_code == 202
    return agents


def test_a_job_sees_its_own_tenant_whoever_wakes_it(past: tuple[Agent, Agent]) -> None:
    agents = two_who_wait()
    with seeing(NOBODY):
        for job_id in reconciler.due_jobs():
            assert run_job(str(job_id))
        assert Job.across_tenants.count() == 0
    for agent in agents:
        assert Job.objects.of(agent.tenant).get(kind=Kind.FLUSH).state == State.DONE


def test_the_reconciler_sees_the_work_of_all(past: tuple[Agent, Agent]) -> None:
    before = len(reconciler.due_jobs())
    two_who_wait()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_q_ormq")
    with seeing(NOBODY):
        assert reconciler.reconcile() == before + 2


def test_a_value_that_is_no_tenant_is_an_error_and_shows_nothing(
    past: tuple[Agent, Agent],
) -> None:
    with (
        pytest.raises(DataError, match='uuid: "everybody"'),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "WITH told AS MATERIALIZED"
            " (SELECT set_config('memory.tenant', 'everybody', true) AS tenant)"
            " SELECT count(*) FROM semantic_fact WHERE (SELECT tenant FROM told) <> ''"
        )

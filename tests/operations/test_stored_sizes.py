"""Counts of what tenants store are checked against the rows, and repaired."""

from __future__ import annotations

import logging
import uuid

import pytest
from django.db import connection

from memoryproject.tenancy import installation, quotas
from memoryproject.tenancy.models import StoredSize
from tests.conftest import Agent
from tests.talk import whole_talk
from wings.operations import stored_sizes


def post_talk(agent: Agent) -> None:
    body = {"conversation_id": str(uuid.uuid4()), "messages": whole_talk()}
    assert agent.post("add_messages", body).status_code == 201


@pytest.mark.django_db
def test_a_count_that_does_not_fit_is_repaired_and_told(
    ana: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    post_talk(ana)
    counted = quotas.measure_storage(ana.tenant)
    assert counted.rows == len(whole_talk()) and counted.bytes > 0
    assert stored_sizes.find_drift(ana.tenant.id) == (0, 0)
    StoredSize.objects.of(ana.tenant).update(row_count=-7, byte_count=-636)
    shown = quotas.measure_storage(ana.tenant)
    assert (shown.rows, shown.bytes) == (0, 0), "never below zero"
    with caplog.at_level(logging.WARNING, logger="memory.stored"):
        stored_sizes.check_nightly(at_most=200)
    assert quotas.measure_storage(ana.tenant) == counted
    (told,) = [line for line in caplog.messages if str(ana.tenant.id) in line]
    assert f"lacked {counted.rows + 7} rows and {counted.bytes + 636} bytes" in told


@pytest.mark.django_db
def test_each_tenant_is_checked_once_a_day(ana: Agent, cleo: Agent) -> None:
    stored_sizes.check_nightly(at_most=1)
    noted = installation.find_note(stored_sizes.CHECKED)
    assert noted and noted.value, "the round goes on"
    for _ in range(3):
        stored_sizes.check_nightly(at_most=1)
    noted = installation.find_note(stored_sizes.CHECKED)
    assert noted and not noted.value, "the round is over"
    StoredSize.objects.create(tenant=ana.tenant, row_count=5, byte_count=5)
    stored_sizes.check_nightly(at_most=200)
    assert stored_sizes.find_drift(ana.tenant.id) == (-5, -5), "not before tomorrow"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tenancy_installation SET noted_at = now() - interval '1 day'")
    stored_sizes.check_nightly(at_most=200)
    assert stored_sizes.find_drift(ana.tenant.id) == (0, 0)


@pytest.mark.django_db
def test_the_columns_are_those_that_the_triggers_count() -> None:
    for model, columns in stored_sizes.COUNTED.items():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT prosrc FROM pg_proc WHERE proname = %s", [f"{model._meta.db_table}_stored"]
            )
            ((source,),) = cursor.fetchall()
        assert f"sum({' + '.join(f'octet_length({name}::text)' for name in columns)})" in source
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_proc WHERE proname LIKE '%%\\_stored' ESCAPE '\\'")
        (number,) = cursor.fetchone()
    assert number == len(stored_sizes.COUNTED) + 1, "and memory_add_stored"

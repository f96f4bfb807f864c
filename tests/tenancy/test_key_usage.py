"""What a key calls is counted in the process, and written as a row a day."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from jobs.models import LLMCall
from memoryproject.tenancy import key_usage, limits
from memoryproject.tenancy.models import KeyUsage
from tests.conftest import Agent, make_agent
from tests.console.visitors import visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo

pytestmark = pytest.mark.django_db


def usage_of(agent: Agent) -> KeyUsage:
    key_usage.write_counts()
    return KeyUsage.objects.of(agent.tenant).get(key=agent.key)


def test_calls_errors_refusals_and_bytes_are_counted(ana: Agent) -> None:
    limits.set_rate(ana.key, 12)  # ten of them at once
    ana.say(uuid.uuid4(), "First.")
    assert ana.post("search", {"nonsense": 1}).status_code == 400
    statuses = {ana.get("whoami").status_code for _ in range(12)}
    assert statuses == {200, 429}
    usage = usage_of(ana)
    assert usage.calls == 14 and usage.errors == 1 and usage.faults == 0
    assert usage.refused in range(2, 5) and sum(usage.latencies) == 14
    assert usage.bytes_in > 100 and usage.bytes_out > 100
    assert usage.day == timezone.now().date()


def test_what_calls_failed_of_is_counted_and_shown_on_the_keys_page(ana: Agent) -> None:
    unknown = uuid.uuid4()
    ana.post("search", {"nonsense": "Mira is ill"})
    numbers = dict.fromkeys(usage_of(ana).failures, 1)  # as an earlier version stored them
    KeyUsage.objects.of(ana.tenant).update(failures=numbers)
    assert ana.post("search", {"nonsense": "Mira is ill"}).status_code == 400
    assert ana.get(f"facts/{unknown}").status_code == 404
    failures = usage_of(ana).failures
    invalid, missing = sorted(failures)
    assert invalid.startswith("400 POST api/v0/search: The request has errors. (nonsense, query")
    assert missing.startswith("404 GET api/v0/facts/<id:fact_id>: ")
    assert failures == {invalid: [2, "127.0.0.1"], missing: [1, "127.0.0.1"]}
    assert "Mira" not in invalid and str(unknown) not in missing
    operator = visit_as("operator")
    shown = operator.get(reverse("admin:tenancy_apikey_change", args=[ana.key.pk])).content.decode()
    assert "400 POST api/v0/search: The request has errors." in shown
    assert "127.0.0.1" in shown
    page = operator.get(reverse("admin:tenancy_apikey_changelist")).content.decode()
    assert "400 POST api/v0/search: The request has errors." in page
    home = operator.get(reverse("admin:index"), {"tenant": ""})
    ((usage, (cause,)),) = home.context["failing"]
    assert (usage.key, usage.failed) == (ana.key, 3) and cause == (invalid, 2, "127.0.0.1")
    (row,) = [row for row in home.context["rows"] if row["tenant"] == ana.tenant]
    assert row["errors"] == 3 and not row["is_fine"]


def test_counting_asks_the_database_nothing_and_two_writes_add_up(ana: Agent) -> None:
    ana.get("whoami")
    with CaptureQueriesContext(connection) as counted:
        key_usage.count_answer(ana.key, status=200, ms=3, bytes_in=5, bytes_out=7)
    assert not counted.captured_queries
    assert usage_of(ana).calls == 2
    with CaptureQueriesContext(connection) as written:
        key_usage.write_counts()
    assert not written.captured_queries, "nothing to write"
    key_usage.count_answer(ana.key, status=500, ms=3, bytes_in=5, bytes_out=7)
    usage = usage_of(ana)
    assert (usage.calls, usage.faults, sum(usage.latencies)) == (3, 1, 3)


def test_counts_of_a_key_that_is_gone_do_not_keep_the_others_from_being_written(
    ana: Agent, cleo: Agent
) -> None:
    gone = make_agent("bo's", "bo").key
    type(gone).objects.of(gone.tenant).filter(id=gone.id).delete()
    for key in (gone, cleo.key):
        key_usage.count_answer(key, status=200, ms=1, bytes_in=0, bytes_out=0)
    assert usage_of(cleo).calls == 1


@pytest.mark.parametrize(("ms", "within"), [(0.2, 1), (1, 1), (3, 4), (100, 128), (10**9, 46341)])
def test_a_latency_falls_into_the_bucket_that_holds_it(ms: float, within: int) -> None:
    assert key_usage.bucket_ms(key_usage.find_bucket(ms)) == within


def test_the_list_of_keys_is_sorted_by_what_they_call(operator: Client, ana: Agent) -> None:
    busy = make_agent("cleo's", "cleo")
    for _ in range(20):
        key_usage.count_answer(busy.key, status=200, ms=10, bytes_in=300, bytes_out=7)
    key_usage.count_answer(busy.key, status=429, ms=900, bytes_in=0, bytes_out=7)
    key_usage.count_answer(ana.key, status=400, ms=1, bytes_in=5, bytes_out=7)
    key_usage.write_counts()
    LLMCall.objects.create(
        tenant=busy.tenant, request_sha256="1", purpose="segment", model="m", ok=True,
        cost=Decimal("0.25"),
    )  # fmt: skip
    page = operator.get(reverse("admin:tenancy_apikey_changelist"))
    assert page.content.decode().count("all calls fail") == 1, "of ana's key: one call, one error"
    own = operator.get(reverse("admin:tenancy_apikey_change", args=[ana.key.id])).content.decode()
    assert "all calls fail" in own
    columns = [str(name) for name in page.context["cl"].list_display]
    at = str(columns.index("calls"))
    page = operator.get(reverse("admin:tenancy_apikey_changelist"), {"o": f"-{at}"})
    first, second = page.context["cl"].result_list
    assert (first, second) == (busy.key, ana.key)
    assert (first.used_calls, first.used_refused, second.used_errors) == (21, 1, 1)
    assert first.used_cost == Decimal("0.25") and second.used_cost is None
    assert key_usage.bucket_ms(first.p95_place) == 11
    text = page.content.decode()
    assert "#rotate" in text and "console-spark" in text


def test_the_page_of_a_key_shows_its_days(operator: Client, ana: Agent) -> None:
    key_usage.count_answer(ana.key, status=200, ms=10, bytes_in=300, bytes_out=7)
    key_usage.write_counts()
    row = KeyUsage.objects.of(ana.tenant).get()
    KeyUsage.objects.of(ana.tenant).filter(id=row.id).update(day=row.day - timedelta(days=2))
    page = operator.get(reverse("admin:tenancy_apikey_change", args=[ana.key.id]))
    assert [day.calls for day in page.context["days"]] == [1]
    assert page.context["days"][0].p95_ms == 11


@pytest.fixture
def operator(db: None) -> Client:
    return visit_as("operator")

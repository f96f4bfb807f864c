"""The front page tells what happened, to each role what it may know, at a bounded cost."""

from __future__ import annotations

import html
import re
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from episodic.models import Conversation, Episode, Message
from jobs import backlog, spending
from jobs.models import Job, Kind, LLMCall, State, WorkerRestart
from memoryproject.database.ids import first_id_at, make_id
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval
from semantic.curation import Act, invalidate_facts
from semantic.models import Fact
from tests.conftest import Agent
from tests.fresh import cleo as cleo
from tests.semantic.learning import Talk, contradicts, new
from tests.semantic.test_curation import declare
from wings.console.charts import Chart
from wings.console.home import metrics, sections
from wings.console.home.sections import Tile

pytestmark = pytest.mark.django_db
QUERIES_AT_MOST = 47


def open_home(browser: Client, **query: Any) -> Any:
    answer = browser.get("/admin/", query)
    assert answer.status_code == 200
    return answer


def read_tiles(answer: Any) -> dict[str, str]:
    return {tile.title: tile.value for tile in answer.context.get("tiles", [])}


def chart_of(answer: Any, key: str) -> Chart:
    (chart,) = [chart for chart in answer.context["charts"] if chart.key == key]
    return chart


def count_list(browser: Client, address: str) -> int:
    """Return how many rows the list behind a number shows."""
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return int(answer.context["cl"].result_count)


def test_without_a_tenant_it_says_how_to_make_one(boss: Client) -> None:
    text = open_home(boss).content.decode()
    assert "There is no tenant yet" in text and "create_api_key" in text


def test_workers_that_were_restarted_of_late_are_told_of(boss: Client) -> None:
    backlog.note_restart(cluster=uuid.uuid4(), reason="a job has been due for 70 s")
    assert "a job has been due for 70 s" in open_home(boss).content.decode()
    WorkerRestart.objects.update(at=timezone.now() - timedelta(days=2))
    assert "Workers were restarted" not in open_home(boss).content.decode()


def test_a_tenant_without_a_past_is_told_what_to_do(boss: Client, ana: Agent) -> None:
    assert "has no messages yet" in open_home(boss).content.decode()


def test_the_numbers_are_those_of_the_tables_and_lead_to_their_rows(
    boss: Client, ana: Agent, told: uuid.UUID
) -> None:
    answer = open_home(boss)
    shown = {tile.title: tile for tile in answer.context["tiles"]}
    for title, model in (("Messages", Message), ("Episodes", Episode), ("New facts", Fact)):
        count = model.objects.of(ana.tenant).count()
        assert count and shown[title].value == str(count)
        assert count_list(boss, shown[title].href) == count


def test_a_click_on_a_day_leads_to_the_rows_of_that_day(
    boss: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    cleo.say(uuid.uuid4(), "A stranger's message on the same day.")
    chart = chart_of(open_home(boss, tenant="ana's", days=7), "messages")
    assert len(chart.labels) == len(chart.links) == 7
    today = chart.series[0].values[-1]
    assert today == Message.objects.of(ana.tenant).count()
    assert count_list(boss, chart.links[-1]) == today
    assert count_list(boss, chart.links[0]) == 0


def test_retired_facts_are_counted_by_reason(boss: Client, ana: Agent, told: uuid.UUID) -> None:
    first, second = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[:2]
    for fact, actor, because in (
        (first, "maria", Fact.Because.WRONG),
        (second, "curator", Fact.Because.SUPERSEDED),
    ):
        act = Act(tenant=ana.tenant, actor=actor, reason="asked the customer")
        invalidate_facts(act=act, fact_ids=[fact.id], because=because)
    answer = open_home(boss)
    tile = next(tile for tile in answer.context["tiles"] if tile.title == "Retired facts")
    assert tile.value == "2" and count_list(boss, tile.href) == 2
    chart = chart_of(answer, "retired")
    assert {series.name: series.values[-1] for series in chart.series} == {
        "superseded": 1,
        "wrong": 1,
    }
    assert count_list(boss, chart.links[-1]) == 2


def test_answers_are_counted_and_their_time_is_measured(
    boss: Client, ana: Agent, told: uuid.UUID
) -> None:
    question = {"conversation_id": str(told), "query": "Where does Mira live?"}
    assert ana.post("retrieve_memory", question).status_code == 200
    assert Retrieval.objects.of(ana.tenant).get().latency_ms > 0
    Retrieval.objects.of(ana.tenant).update(latency_ms=50)
    for latency_ms in (*range(51, 70), 900):
        Retrieval.objects.create(
            tenant=ana.tenant, kind="retrieve", query="q", parameters={}, latency_ms=latency_ms
        )
    tiles = read_tiles(open_home(boss))
    assert tiles["Answers"] == "21"
    assert tiles["p95 latency"] == "69 ms"


def test_jobs_are_counted_by_their_state(boss: Client, ana: Agent, cleo: Agent) -> None:
    for state in (State.READY, State.DEAD, State.DEAD, State.DONE):
        Job.objects.create(
            tenant=ana.tenant, kind=Kind.FLUSH, scope=uuid.uuid4(), state=state, error_class="Odd"
        )
    Job.objects.create(tenant=cleo.tenant, kind=Kind.FLUSH, scope=uuid.uuid4(), state=State.DEAD)
    answer = open_home(boss, tenant="ana's")
    shown = {tile.title: tile for tile in answer.context["tiles"]}
    assert (shown["Open jobs"].value, shown["Dead jobs"].value) == ("1", "2")
    assert count_list(boss, shown["Open jobs"].href) == 1
    assert count_list(boss, shown["Dead jobs"].href) == 2


def test_what_the_model_cost_is_told_against_the_budget(boss: Client, ana: Agent) -> None:
    spending.set_budget(ana.tenant, Decimal("0.40"))
    for day in (0, 3):
        call = LLMCall.objects.create(
            tenant=ana.tenant, request_sha256=f"{day}", purpose="segment", model="m", ok=False,
            cost=Decimal("0.10"), finished_at=timezone.now(),
        )  # fmt: skip
        LLMCall.objects.of(ana.tenant).filter(id=call.id).update(
            created_at=timezone.now() - timedelta(days=day)
        )
    answer = open_home(boss, days=7)
    spend = answer.context["spend"]
    today = spend["today"]
    assert (today.spent_today, today.budget, spend["share"]) == (
        Decimal("0.10"),
        Decimal("0.40"),
        25,
    )
    costs = chart_of(answer, "spend").series[0].values
    assert (costs[-1], costs[-4], sum(filter(None, costs))) == (0.1, 0.1, 0.2)


def test_all_tenants_stand_in_a_table_until_one_is_chosen_and_then_it_stays(
    operator: Client, ana: Agent, cleo: Agent
) -> None:
    ana.say(uuid.uuid4(), "First.")
    Job.objects.create(tenant=cleo.tenant, kind=Kind.FLUSH, scope=uuid.uuid4(), state=State.DEAD)
    spending.set_budget(cleo.tenant, Decimal("0.40"))
    rows = open_home(operator).context["rows"]
    assert [(row["tenant"], row["dead_jobs"]) for row in rows] == [
        (cleo.tenant, 1),
        (ana.tenant, 0),
    ]
    assert rows[1]["last_message"] is not None and rows[1]["bytes"] > 0 and rows[0]["share"] == 0
    assert "to decide on" not in open_home(operator).content.decode()
    assert open_home(operator, tenant="ana's").context["tenant"] == ana.tenant
    assert open_home(operator).context["tenant"] == ana.tenant
    assert len(open_home(operator, tenant="").context["rows"]) == 2


def test_an_operator_is_not_told_that_nothing_happens_where_messages_come(
    operator: Client, ana: Agent
) -> None:
    ana.say(uuid.uuid4(), "First.")
    assert "has no messages yet" not in open_home(operator).content.decode()


def test_an_unknown_tenant_and_an_odd_range_are_said_and_survived(boss: Client, ana: Agent) -> None:
    for name in ("<b>nobody</b>", "\x00", "x" * 10_000):
        answer = open_home(boss, tenant=name, days="-1")
        assert answer.context["tenant"] == ana.tenant and answer.context["days"] == 30
        assert "<b>nobody" not in answer.content.decode()
    assert "No tenant is named" in open_home(boss, tenant="nobody").content.decode()


def test_an_operator_sees_work_and_money_and_nothing_of_memory(
    operator: Client, ana: Agent, told: uuid.UUID
) -> None:
    Job.objects.create(
        tenant=ana.tenant, kind=Kind.FLUSH, scope=uuid.uuid4(), state=State.DEAD, error_class="Odd"
    )
    answer = open_home(operator)
    assert set(read_tiles(answer)) == {"Open jobs", "Dead jobs"}
    assert answer.context["spend"] is not None
    text = html.unescape(answer.content.decode())
    assert 'role="search"' not in text and "Dead jobs wait for you" in text and "Odd" in text
    assert all(fact.fact not in text for fact in Fact.objects.of(ana.tenant))
    assert "/semantic/" not in text and "/episodic/" not in text


def test_an_auditor_and_a_curator_see_memory_and_search(
    auditor: Client, curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    for browser in (auditor, curator):
        answer = open_home(browser)
        assert {"Messages", "Episodes", "New facts", "Answers"} <= set(read_tiles(answer))
        assert 'role="search"' in answer.content.decode()


def test_who_has_no_role_sees_no_number(nobody: Client, ana: Agent, told: uuid.UUID) -> None:
    answer = open_home(nobody)
    assert answer.context["tenant"] is None and "rows" not in answer.context
    assert ana.tenant.name not in answer.content.decode()


def test_what_was_said_is_not_on_the_page(auditor: Client, ana: Agent) -> None:
    ana.say(uuid.uuid4(), "My secret is a <script>alert(1)</script>.")
    text = open_home(auditor).content.decode()
    assert "My secret" not in text and "<script>alert(1)" not in text


def test_it_asks_the_same_number_of_questions_however_much_there_is(
    boss: Client, ana: Agent, told: uuid.UUID
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            open_home(boss, days=90, tenant="ana's")
        return len(asked)

    def let_die() -> None:
        Job.objects.create(tenant=ana.tenant, kind=Kind.FLUSH, scope=uuid.uuid4(), state="dead")

    facts = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    act = Act(tenant=ana.tenant, actor="maria", reason="test")
    *some, last = facts.order_by("id").values_list("id", flat=True)
    invalidate_facts(act=act, fact_ids=some, because=Fact.Because.WRONG)
    let_die()
    before = count()
    invalidate_facts(act=act, fact_ids=[last], because=Fact.Because.WRONG)
    for number in range(5):
        let_die()
        Tenant.objects.create(name=f"tenant {number}")
    assert count() == before <= QUERIES_AT_MOST


def test_what_is_beyond_the_cap_is_said_to_be_more(
    ana: Agent, told: uuid.UUID, settings: Settings
) -> None:
    settings.COUNTED_AT_MOST = 3
    spans = metrics.spans_of(7, now=timezone.now())
    assert metrics.count_created(Message, ana.tenant, spans)[-1] == 4
    tile, chart, *_ = sections.render_memory(ana.tenant, spans, timezone.now())
    assert isinstance(tile, Tile) and tile.value == "3+"
    assert isinstance(chart, Chart) and chart.series[0].values[-1] == 3


def test_the_ranges_are_whole_days_that_end_with_today() -> None:
    now = datetime(2026, 3, 5, 13, 30, tzinfo=UTC)
    for days, count in ((7, 7), (30, 30), (90, 13)):
        spans = metrics.spans_of(days, now=now)
        assert len(spans) == count
        assert spans[-1].end == datetime(2026, 3, 6, tzinfo=UTC)
        assert all(one.end == two.start for one, two in pairwise(spans))


def test_a_span_of_time_is_a_range_of_ids() -> None:
    before = timezone.now()
    made = make_id()
    after = timezone.now() + timedelta(milliseconds=1)
    assert first_id_at(before) <= made < first_id_at(after)


def test_counting_reads_indexes_alone(ana: Agent, told: uuid.UUID) -> None:
    """However large the tables: no sequential scan. Which index serves ids, statistics decide."""
    now = timezone.now()
    spans = metrics.spans_of(30, now=now)
    with CaptureQueriesContext(connection) as asked, connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for render in (sections.render_memory, sections.render_facts, sections.render_answers):
            list(render(ana.tenant, spans, now))
    plans = {}
    with connection.cursor() as cursor:
        for query in asked.captured_queries[1:]:
            cursor.execute(f"EXPLAIN {query['sql'].replace('%', '%%')}")
            plans[query["sql"]] = "\n".join(row[0] for row in cursor.fetchall())
    assert len(plans) >= 6
    scanned = re.compile(r"Seq Scan on (episodic|semantic_fact|retrieval)\w*")
    assert not [plan for plan in plans.values() if scanned.search(plan)]
    used = "\n".join(plans.values())
    for index in ("semantic_fact_closed", "retrieval_with_latency"):
        assert index in used


def test_a_curators_home_is_the_queue_and_how_often_wrong_facts_were_served(
    curator: Client, auditor: Client, ana: Agent
) -> None:
    talk = Talk(ana)
    talk.learn(new("Mira owns a piano."), new("Mira owns a harp."), new("Jonas sings."))
    talk.learn(new("Jonas hums."), hints=[contradicts("Jonas sings.", "Jonas hums.")])
    body = {"conversation_id": str(talk.row().external_id), "query": "piano", "semantic_limit": 1}
    assert ana.post("retrieve_memory", body).status_code == 200
    for sentence in ("Mira owns a piano.", "Mira owns a harp."):
        declare(talk, sentence)
    answer = open_home(curator)
    tiles = read_tiles(answer)
    assert (tiles["Declared wrong"], tiles["Served, then wrong"]) == ("2", "1")
    before, never = chart_of(answer, "wrong").series
    assert (sum(filter(None, before.values)), sum(filter(None, never.values))) == (1, 1)
    text = html.unescape(answer.content.decode())
    assert "Jonas sings." in text and "who unmasked messages" not in text
    text = html.unescape(open_home(auditor).content.decode())
    assert "who unmasked messages" in text and "Open the queue" not in text


def test_a_curator_sees_of_all_tenants_how_much_is_to_be_decided_on(
    curator: Client, ana: Agent, cleo: Agent
) -> None:
    talk = Talk(ana)
    talk.learn(new("Jonas sings."))
    talk.learn(new("Jonas hums."), hints=[contradicts("Jonas sings.", "Jonas hums.")])
    answer = open_home(curator)
    counts = {row["tenant"]: row["to_decide"] for row in answer.context["rows"]}
    assert counts == {ana.tenant: 1, cleo.tenant: 0}
    assert "to decide on" in answer.content.decode()


def test_an_auditors_home_lists_answers_and_who_had_messages_shown(
    auditor: Client, ana: Agent, told: uuid.UUID
) -> None:
    row = Conversation.objects.of(ana.tenant).get(external_id=told)
    auditor.post(reverse("console:reveal", args=[row.id]), {"reason": "Complaint 17"})
    ana.post("retrieve_memory", {"conversation_id": str(told), "query": "Which ward?"})
    text = html.unescape(open_home(auditor).content.decode())
    assert "Complaint 17" in text and "open until" in text and "Which ward?" in text

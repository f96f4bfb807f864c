"""What a tenant may spend on the model, and that nothing but the model waits for money."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from episodic.models import Episode, Message
from episodic.queries import database_now
from jobs import spending
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from jobs.spending import BudgetSpent
from memoryproject.tenancy.walls import across_tenants
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job, post
from tests.model_server import ModelServer, fails, says
from tests.talk import EVENING, RUNNING, messages

PRICES = {"scripted": (Decimal("2"), Decimal("10"))}
GOOD = segments(segment(7))
USAGE = {"prompt_tokens": 500, "completion_tokens": 100}
COST = Decimal("0.002")  # 500 at 2 and 100 at 10 for a million


@pytest.fixture(autouse=True)
def priced(settings: Settings) -> None:
    settings.PRICES = PRICES
    settings.CHAT_ANSWER_TOKENS = 1_000  # at most 0.01 and what the question takes


def calls(agent: Agent) -> list[LLMCall]:
    return list(LLMCall.objects.of(agent.tenant).order_by("created_at", "id"))


@pytest.mark.django_db
def test_a_call_costs_what_the_provider_counted(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(GOOD, usage=USAGE))
    model.script("consolidate", says(changes(), usage=USAGE))
    ana.flush(talk)
    assert [(call.ok, call.cost, call.estimated) for call in calls(ana)] == [
        (True, COST, False)
    ] * 2


@pytest.mark.django_db
def test_a_call_that_nobody_counted_is_counted_by_us(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(GOOD))
    model.script("consolidate", says(changes()))
    ana.flush(talk)
    for call in calls(ana):
        assert call.estimated and call.input_tokens > 400 and call.output_tokens > 0
        assert call.cost == (2 * call.input_tokens + 10 * call.output_tokens) / Decimal(10**6)


@pytest.mark.django_db
@pytest.mark.parametrize("count", ["prompt_tokens", "completion_tokens", "total_tokens"])
def test_no_count_of_a_provider_exceeds_what_was_reserved(
    model: ModelServer, ana: Agent, talk: uuid.UUID, count: str
) -> None:
    model.script("segment", says(GOOD, usage=USAGE | {count: 10**30}))
    model.script("consolidate", says(changes(), usage=USAGE))
    ana.flush(talk)
    huge, fair = calls(ana)
    assert huge.estimated and not fair.estimated
    assert huge.output_tokens <= 1_000 and huge.input_tokens < 5_000


@pytest.mark.django_db
def test_what_was_turned_away_costs_nothing_and_what_hung_may(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    settings.MODEL_TIMEOUT_S = 1
    model.script("segment", fails(503), says(GOOD, hang_s=2))
    ana.flush(talk)
    Job.objects.of(ana.tenant).update(run_after=database_now())
    drain_jobs()
    refused, hung = calls(ana)
    assert (refused.cost, refused.input_tokens) == (0, 0)
    assert hung.estimated and hung.cost == Decimal(2 * hung.input_tokens) / 10**6 > 0
    assert hung.output_tokens == 0 and not hung.ok


@pytest.mark.django_db
def test_over_the_budget_the_work_is_parked_while_ingest_and_retrieval_go_on(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    spending.set_budget(ana.tenant, Decimal("0.015"))  # one call, which may cost some .011
    model.script("segment", says(GOOD, usage=USAGE | {"completion_tokens": 900}))
    drained = ana.flush(talk)
    assert (drained.later, drained.dead) == (1, 0)
    job = flush_job(ana)
    assert (job.state, job.error_class, job.attempts) == (State.READY, "BudgetSpent", 0)
    midnight = spending.start_of_day(database_now()) + timedelta(days=1)
    assert midnight - timedelta(seconds=5) <= job.run_after <= midnight + spending.SPREAD
    assert len(model.asked) == 1 and len(calls(ana)) == 1

    post(ana, talk, messages(RUNNING, EVENING))
    asked = ana.post("retrieve_memory", {"conversation_id": str(talk), "query": "Rotterdam?"})
    assert asked.status_code == 200 and "Episodic Memories" in asked.content.decode()
    state = ana.get(f"conversations/{talk}").json()
    assert (state["messages"], state["waits_for"]) == (16, ["BudgetSpent"])

    model.script("segment", says(GOOD, usage=USAGE))
    model.script("consolidate", says(changes(), usage=USAGE))
    assert spending.set_budget(ana.tenant, None) == 1
    assert drain_jobs().later == 0
    job.refresh_from_db()
    assert job.state == State.DONE
    assert not Episode.objects.of(ana.tenant).filter(consolidated_at=None).exists()


@pytest.mark.django_db
def test_a_model_without_a_price_is_not_asked_under_a_budget(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    spending.set_budget(ana.tenant, Decimal(5))
    settings.PRICES = {}
    ana.flush(talk)
    assert (flush_job(ana).state, flush_job(ana).error_class) == (State.READY, "PriceUnknown")
    assert not model.asked and not calls(ana)


@pytest.mark.django_db
def test_without_a_budget_a_model_without_a_price_works_at_unknown_cost(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    settings.PRICES = {}
    model.script("segment", says(GOOD, usage=USAGE))
    model.script("consolidate", says(changes(), usage=USAGE))
    ana.flush(talk)
    assert {call.cost for call in calls(ana)} == {None}
    assert [row["without_price"] for row in ana.get("usage").json()["rows"]] == [1, 1]


@pytest.mark.django_db
def test_an_edition_costs_what_its_model_costs_and_a_namesake_does_not(settings: Settings) -> None:
    assert spending.find_price("scripted-2026-01-31") == PRICES["scripted"]
    assert spending.find_price("scripted-pro") is None


@pytest.mark.django_db
def test_a_crash_in_a_call_counts_at_the_most_that_it_can_cost(ana: Agent) -> None:
    half = {"tenant": ana.tenant, "cost": Decimal("0.5"), "purpose": "segment", "ok": False}
    spending.open_call(LLMCall(request_sha256="1", model="scripted", **half))
    spending.set_budget(ana.tenant, Decimal("0.9"))
    with pytest.raises(BudgetSpent):
        spending.open_call(LLMCall(request_sha256="2", model="s", **half))
    used = ana.get("usage").json()
    assert (used["spent_today"], used["daily_budget"]) == (0.5, 0.9)


@pytest.mark.django_db
def test_yesterdays_calls_are_paid_from_yesterdays_budget(ana: Agent, cleo: Agent) -> None:
    for agent, day in ((ana, 1), (cleo, 0)):
        LLMCall.objects.create(
            tenant=agent.tenant, request_sha256="1", purpose="segment", model="scripted",
            ok=False, cost=Decimal(7), created_at=database_now() - timedelta(days=day),
        )  # fmt: skip
    spending.set_budget(ana.tenant, Decimal(1))
    spending.open_call(
        LLMCall(
            tenant=ana.tenant, request_sha256="2", purpose="segment", model="s", ok=False,
            cost=Decimal(1),
        )
    )  # fmt: skip
    assert spending.find_spent(ana.tenant, since=spending.start_of_day(database_now())) == 1


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_never_spend_more_than_the_budget(ana: Agent) -> None:
    spending.set_budget(ana.tenant, Decimal("0.35"))

    @across_tenants()
    def open_one(number: int) -> bool:
        call = LLMCall(
            tenant=ana.tenant, request_sha256=str(number), purpose="segment", model="s", ok=False,
            cost=Decimal("0.1"),
        )  # fmt: skip
        try:
            spending.open_call(call)
        except BudgetSpent:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(open_one, range(24)))
    assert sum(opened) == 3 and len(calls(ana)) == 3


@pytest.mark.django_db
def test_usage_tells_days_purposes_and_only_ones_own(
    model: ModelServer, ana: Agent, cleo: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says("{", usage=USAGE), says(GOOD, usage=USAGE))
    model.script("consolidate", says(changes(), usage=USAGE))
    ana.flush(talk)
    used = ana.get("usage?days=2").json()
    assert used.pop("stored")["rows"] == Message.objects.of(ana.tenant).count()
    today = database_now().date().isoformat()
    common = {"day": today, "model": "scripted", "without_price": 0}
    assert used == {
        "spent_today": 0.006,
        "daily_budget": None,
        "parked_jobs": 0,
        "rows": [
            {**common, "purpose": "consolidate", "calls": 1, "failed": 0, "input_tokens": 500,
             "output_tokens": 100, "cost": 0.002},
            {**common, "purpose": "segment", "calls": 2, "failed": 1, "input_tokens": 1000,
             "output_tokens": 200, "cost": 0.004},
        ],
    }  # fmt: skip
    assert cleo.get("usage").json()["rows"] == []
    for days in ("0", "91", "x"):
        assert_problem(ana.get(f"usage?days={days}"), 400)


@pytest.mark.django_db
def test_the_command_sets_and_tells_a_budget(ana: Agent, settings: Settings) -> None:
    settings.CHAT_MODEL = "scripted"

    def run(*words: str) -> str:
        out = StringIO()
        call_command("tenant", ana.tenant.name, *words, stdout=out)
        return out.getvalue()

    assert "spent today: 0.0000 no limit" in run()
    assert "0 parked jobs go on" in run("--budget", "2.50") and "of 2.50" in run()
    assert "spent today: 0.0000 no limit" in run("--budget", "none")
    for wrong in ("-1", "much", "NaN"):
        with pytest.raises(CommandError):
            run(f"--budget={wrong}")
    settings.PRICES = {}
    with pytest.raises(CommandError, match="MEMORY_PRICES"):
        run("--budget", "1")


def test_a_budget_that_cannot_be_kept_keeps_the_server_from_starting(settings: Settings) -> None:
    settings.LLM, settings.CHAT_MODEL, settings.DAILY_BUDGET = "openai", "unheard-of", Decimal(1)
    assert "jobs.E001" in {found.id for found in run_checks()}
    settings.PRICES = {"unheard-of": (Decimal(0), Decimal(0))}
    assert "jobs.E001" not in {found.id for found in run_checks()}

"""Costs of a tenant's model calls, and the daily budget.

A call is recorded before it is made, with its highest possible cost, and corrected when it has
ended. So no tenant exceeds the budget, whatever runs at once and whatever crashes.
"""

import random
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import NOT_PROVIDED, QuerySet, Sum
from django.db.models.functions import Now

from jobs.models import Job, LLMCall, State
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Problem
from memoryproject.process.env import Price
from memoryproject.tenancy.models import Tenant

SETTING = "daily_budget"
"""The key in a tenant's settings: an amount as text, or null for no limit."""
QUESTIONS = "ask_budget"
"""Likewise the key of the budget for calls of `ask`."""
DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
"""Pattern of a date in a model's name: all editions cost the same."""
MILLION = 1_000_000
MOST = Decimal(10**6)
"""The largest budget."""
SPREAD = timedelta(minutes=10)
"""Time over which parked work starts again, so that it does not all start at midnight."""


class BudgetSpent(ModelUnavailable):
    """Today's budget does not allow another call: the work waits until tomorrow."""


class PriceUnknown(ModelUnavailable):
    """There is a budget, but the model has no price: the work waits for one."""


def find_price(model: str) -> Price | None:
    """Return the price of a million tokens of a model, in and out; None if unknown."""
    prices: dict[str, Price] = settings.PRICES
    free = (Decimal(0), Decimal(0)) if settings.LLM_IS_LOCAL else None
    return prices.get(model) or prices.get(DATED.sub("", model)) or free


def find_cost(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """Return the cost of a model call, or None if the price is unknown."""
    price = find_price(model)
    if price is None:
        return None
    return (price[0] * input_tokens + price[1] * output_tokens) / MILLION


def find_budget(tenant: Tenant, name: str = SETTING) -> Decimal | None:
    """Return a tenant's budget for a day, or None without a limit."""
    usual = {SETTING: settings.DAILY_BUDGET, QUESTIONS: settings.ASK_BUDGET}
    budget = tenant.settings.get(name, usual[name])
    return None if budget is None else Decimal(budget)


def open_call(call: LLMCall, *, own: str = "") -> None:
    """Record a call with its highest possible `cost`, which today's budget must allow.

    `own` names a second budget that must allow it: the one for calls of its purpose.

    Raises:
        BudgetSpent: it does not; `retry_after_s` reaches into the next day.
        PriceUnknown: there is a budget, and no price.
    """
    with transaction.atomic():
        # The lock makes calls of a tenant add up one after the other. It is the tenant's
        # row as it is now that counts: a worker's own copy may be an hour old.
        tenant = Tenant.objects.select_for_update(no_key=True).get(id=call.tenant_id)
        _check_budget(tenant, call, find_budget(tenant))
        if own:
            _check_budget(tenant, call, find_budget(tenant, own), purpose=call.purpose)
        call.save(force_insert=True)


def _check_budget(tenant: Tenant, call: LLMCall, budget: Decimal | None, **which: str) -> None:
    """Raise if a budget, spent by the calls in `which`, does not allow another."""
    if budget is None:
        return
    if call.cost is None:
        raise PriceUnknown(f"no price of {call.model}")
    now = read_database_clock()
    if find_spent(tenant, since=start_of_day(now), **which) + call.cost > budget:
        wait = start_of_day(now) + timedelta(days=1) - now + SPREAD * random.random()
        raise BudgetSpent("budget spent", retry_after_s=wait.total_seconds())


def find_spent(tenant: Tenant, *, since: datetime, **which: str) -> Decimal:
    """Return the cost of a tenant's calls; running ones count with their highest cost."""
    calls = LLMCall.objects.of(tenant).filter(created_at__gte=since, **which)
    return calls.aggregate(total=Sum("cost"))["total"] or Decimal(0)


def start_of_day(now: datetime) -> datetime:
    """Return the last midnight, in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def check_budget(budget: Decimal) -> None:
    """Raise Problem if it is no amount, or too large."""
    if not (budget.is_finite() and 0 <= budget <= MOST):
        raise Problem("The budget is an amount from 0 to a million.")
    if find_price(settings.CHAT_MODEL) is None:
        raise Problem(f"{settings.CHAT_MODEL} has no price: give it one in MEMORY_PRICES.")


def set_budget(
    tenant: Tenant, budget: Decimal | type[NOT_PROVIDED] | None, name: str = SETTING
) -> int:
    """Set a tenant's own budget, or no limit; return how many parked jobs continue.

    NOT_PROVIDED: the server's default.
    """
    amount = str(budget) if isinstance(budget, Decimal) else budget
    with transaction.atomic():
        tenant.change_setting(name, amount)
        return parked_jobs(tenant).update(run_after=Now())


def parked_jobs(tenant: Tenant) -> QuerySet[Job]:
    """Return the jobs that wait for budget or for a price."""
    waiting = [BudgetSpent.__name__, PriceUnknown.__name__]
    return Job.objects.of(tenant).filter(state=State.READY, error_class__in=waiting)

"""What the language model costs a tenant, and how much a day may cost.

A call goes on record before it is made, at the most that it can cost, and is set right
when it has ended. So whatever runs at once, and whoever dies in between, no tenant
spends more than the budget.
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
DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
"""How a provider marks one edition of a model; all editions cost the same."""
MILLION = 1_000_000
MOST = Decimal(10**6)
"""The largest budget."""
SPREAD = timedelta(minutes=10)
"""Over which parked work starts again, so that it does not all start at midnight."""


class BudgetSpent(ModelUnavailable):
    """Today's budget does not allow another call: the work waits for tomorrow."""


class PriceUnknown(ModelUnavailable):
    """A budget cannot be kept while the model has no price: the work waits for one."""


def find_price(model: str) -> Price | None:
    """Return what a million tokens of a model cost, in and out; None if that is not known."""
    prices: dict[str, Price] = settings.PRICES
    free = (Decimal(0), Decimal(0)) if settings.LLM_IS_LOCAL else None
    return prices.get(model) or prices.get(DATED.sub("", model)) or free


def find_cost(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """Return what a call of a model costs, or None where the price is not known."""
    price = find_price(model)
    if price is None:
        return None
    return (price[0] * input_tokens + price[1] * output_tokens) / MILLION


def find_budget(tenant: Tenant) -> Decimal | None:
    """Return what a tenant may spend in a day, or None where there is no limit."""
    budget = tenant.settings.get(SETTING, settings.DAILY_BUDGET)
    return None if budget is None else Decimal(budget)


def open_call(call: LLMCall) -> None:
    """Put a call on record whose `cost` is the most that it can be; today's budget must allow it.

    Raises:
        BudgetSpent: it does not; `retry_after_s` reaches into the next day.
        PriceUnknown: there is a budget, and no price.
    """
    with transaction.atomic():
        # The lock makes calls of a tenant add up one after the other. It is the tenant's
        # row as it is now that counts: a worker's own copy may be an hour old.
        tenant = Tenant.objects.select_for_update(no_key=True).get(id=call.tenant_id)
        budget = find_budget(tenant)
        if budget is not None:
            if call.cost is None:
                raise PriceUnknown(f"no price of {call.model}")
            now = read_database_clock()
            if find_spent(tenant, since=start_of_day(now)) + call.cost > budget:
                wait = start_of_day(now) + timedelta(days=1) - now + SPREAD * random.random()
                raise BudgetSpent("budget spent", retry_after_s=wait.total_seconds())
        call.save(force_insert=True)


def find_spent(tenant: Tenant, *, since: datetime) -> Decimal:
    """Return what a tenant's calls have cost, those that still run at their most."""
    calls = LLMCall.objects.of(tenant).filter(created_at__gte=since)
    return calls.aggregate(total=Sum("cost"))["total"] or Decimal(0)


def start_of_day(now: datetime) -> datetime:
    """Return the midnight before, in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def check_budget(budget: Decimal) -> None:
    """Raise Problem where an amount is none, or could not be kept."""
    if not (budget.is_finite() and 0 <= budget <= MOST):
        raise Problem("The budget is an amount from 0 to a million.")
    if find_price(settings.CHAT_MODEL) is None:
        raise Problem(f"{settings.CHAT_MODEL} has no price: give it one in MEMORY_PRICES.")


def set_budget(tenant: Tenant, budget: Decimal | type[NOT_PROVIDED] | None) -> int:
    """Give a tenant a budget of its own, or no limit; return how many parked jobs go on.

    NOT_PROVIDED: the server's default.
    """
    amount = str(budget) if isinstance(budget, Decimal) else budget
    with transaction.atomic():
        tenant.change_setting(SETTING, amount)
        return parked_jobs(tenant).update(run_after=Now())


def parked_jobs(tenant: Tenant) -> QuerySet[Job]:
    """Return the jobs that wait for money or for a price."""
    waiting = [BudgetSpent.__name__, PriceUnknown.__name__]
    return Job.objects.of(tenant).filter(state=State.READY, error_class__in=waiting)

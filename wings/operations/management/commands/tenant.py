"""Show a tenant's limits, what it stores and has spent, and set its limits.

Each option sets one value: 0 means no limit (for a budget `none`), `default` the server's. Work
paused by budget continues when a budget is set. A key may have its own scope and rate, and a call
may name its scope.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.db.models import NOT_PROVIDED
from django.utils import timezone

from jobs import spending
from jobs.usage import measure_today
from memoryproject.tenancy import limits, quotas
from memoryproject.tenancy.management.naming import (
    DEFAULT,
    ServiceCommand,
    find_tenant,
    read_limit,
)
from memoryproject.tenancy.models import Tenant
from retrieval.api import scoped
from retrieval.request import CONVERSATION, SCOPES

RATES = {"calls": limits.CALLS, "sent_bytes": limits.BYTES, "questions": limits.QUESTIONS}
BUDGETS = {"budget": spending.SETTING, "questions_budget": spending.QUESTIONS}
QUOTAS = {"stored_bytes": quotas.BYTES, "stored_rows": quotas.ROWS}


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="its name")
        parser.add_argument("--calls", help="calls a minute, of all keys together")
        parser.add_argument("--sent-bytes", help="bytes a minute, in bodies of calls")
        parser.add_argument("--questions", help="calls of ask a minute")
        parser.add_argument("--stored-bytes", help="bytes of texts and metadata, in UTF-8")
        parser.add_argument("--stored-rows", help="messages, notes and their earlier versions")
        parser.add_argument(
            "--budget", help='of the language model for a day (UTC), as in 2.50; "none": no limit'
        )
        parser.add_argument("--questions-budget", help="part of the budget for calls of ask")
        parser.add_argument("--scope", choices=SCOPES, help="default scope of calls that name none")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        given = {
            name: read_limit("limit", options[name])
            for name in (*RATES, *QUOTAS)
            if options[name] is not None
        }
        with transaction.atomic():
            for name in given.keys() & RATES.keys():
                limits.set_rate(tenant, given[name], RATES[name])
            own = given.keys() & QUOTAS.keys()
            quotas.set_quota(tenant, {QUOTAS[name]: given[name] for name in own})
            if options["scope"]:
                tenant.change_setting(scoped.DEFAULT, options["scope"])
            for name, setting in BUDGETS.items():
                if options[name] is not None:
                    freed = spending.set_budget(tenant, read_budget(options[name]), setting)
                    self.stdout.write(f"{freed} parked jobs go on")
        self._show(tenant)

    def _show(self, tenant: Tenant) -> None:
        stored, usage = quotas.measure_storage(tenant), measure_today(tenant, now=timezone.now())
        budget = "no limit" if usage.budget is None else f"of {usage.budget:.2f}"
        for name, unit in RATES.items():
            rate = limits.describe_rate(tenant, unit)
            self.stdout.write(f"{name.replace('_', ' ')}: {rate}")
        self.stdout.write(f"stored: {stored.bytes} bytes in {stored.rows} messages and notes")
        self.stdout.write(f"quota: {quotas.describe_quota(tenant)}")
        self.stdout.write(f"spent today: {usage.spent_today:.4f} {budget}")
        own = spending.find_budget(tenant, spending.QUESTIONS)
        self.stdout.write(f"questions budget: {'no limit' if own is None else f'{own:.2f}'}")
        self.stdout.write(f"scope: {tenant.settings.get(scoped.DEFAULT, CONVERSATION)}")


def read_budget(text: str) -> Decimal | type[NOT_PROVIDED] | None:
    """Return the amount, None for no limit, or NOT_PROVIDED for the server's."""
    if text in ("none", DEFAULT):
        return None if text == "none" else NOT_PROVIDED
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise CommandError('The budget is an amount from 0 to a million, or "none".') from None
    spending.check_budget(amount)
    return amount

"""Set what the language model may cost a tenant in a day (UTC), in the currency of the prices.

Or, of that, what its questions (`ask`) may cost. The work goes on that waits for money.
Without an amount: print only.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from jobs import spending
from jobs.usage import measure_today
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument("amount", nargs="?", help='as in 2.50; "none" for no limit')
        parser.add_argument("--questions", action="store_true", help="of calls of ask alone")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        if options["amount"] is not None:
            name = spending.QUESTIONS if options["questions"] else spending.SETTING
            freed = spending.set_budget(tenant, read_budget(options["amount"]), name)
            self.stdout.write(f"{freed} parked jobs go on")
        usage = measure_today(tenant, now=timezone.now())
        limit = "no limit" if usage.budget is None else f"of {usage.budget:.2f}"
        self.stdout.write(f"spent today: {usage.spent_today:.4f} {limit}")


def read_budget(text: str) -> Decimal | None:
    """Return the amount, or None for no limit."""
    if text == "none":
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise CommandError('The budget is an amount from 0 to a million, or "none".') from None
    spending.check_budget(amount)
    return amount

"""Set the numbers by which a tenant's memories are ordered.

Set the numbers by which a tenant's memories are ordered, and print those in force. A call may
still bring its own. Without numbers: print only.
"""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memoryproject.tenancy.management.naming import find_tenant
from retrieval.api.retrieve import FusionInput
from retrieval.search.scores import DEFAULTS, SETTING


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument(
            "numbers", nargs="*", metavar="name=number", help=", ".join(DEFAULTS.as_parameters())
        )
        parser.add_argument("--reset", action="store_true", help="take the defaults again first")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        numbers = {} if options["reset"] else tenant.settings.get(SETTING, {})
        numbers = {**numbers, **read_numbers(options["numbers"])}
        if options["numbers"] or options["reset"]:
            tenant.change_setting(SETTING, numbers)
        for name, number in DEFAULTS.changed(numbers).as_parameters().items():
            self.stdout.write(f"{name}={number}")


def read_numbers(words: list[str]) -> dict[str, Any]:
    """Return the numbers by name.

    Raises:
        CommandError: a name or number that a call would be refused for.
    """
    pairs = [pair.partition("=") for pair in words]
    try:
        form = FusionInput(data={name: json.loads(number) for name, _, number in pairs})
    except ValueError:
        raise CommandError("Numbers are written as in k=10.") from None
    if not form.is_valid():
        faults = [f"{name}: {' '.join(map(str, texts))}" for name, texts in form.errors.items()]
        raise CommandError("; ".join(faults))
    return dict(form.validated_data)

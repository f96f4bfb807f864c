"""Set how often a key, or all keys of a tenant together, may call, and how much they may send.

Set how many calls a minute a key, or all keys of a tenant together, may make, or how many bytes a
tenant may send, or how many questions it may ask. Without a rate: print only.
"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryproject.tenancy import limits
from memoryproject.tenancy.management import naming
from memoryproject.tenancy.models import APIKey, Tenant

DEFAULT = "default"


class Command(naming.ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--key", help=naming.NAMED)
        whose.add_argument("--tenant", help="name of the tenant")
        unit = parser.add_mutually_exclusive_group()
        for name in (limits.BYTES, limits.QUESTIONS):
            unit.add_argument(
                f"--{name}",
                dest="unit",
                action="store_const",
                const=name,
                default=limits.CALLS,
                help=f"of a tenant: {name}, not calls",
            )
        parser.add_argument(
            "rate", nargs="?", help=f'a minute; 0: no limit; "{DEFAULT}": the server\'s'
        )

    def handle(self, *args: Any, **options: Any) -> None:
        unit = options["unit"]
        owner: APIKey | Tenant
        if options["key"] is None:
            owner = naming.find_tenant(options["tenant"])
        elif unit != limits.CALLS:
            raise CommandError(f"{unit.title()} are counted by tenant: name one with --tenant.")
        else:
            owner = naming.find_named_key(options["key"])
        if options["rate"] is not None:
            limits.set_rate(owner, read_limit("rate", options["rate"]), unit)
        self.stdout.write(limits.describe_rate(owner, unit))


def read_limit(name: str, text: str) -> int | None:
    """Return the limit, None for the server's; raise CommandError where it is none."""
    if text == DEFAULT:
        return None
    try:
        return int(text)
    except ValueError:
        raise CommandError(f'A {name} is a whole number, or "{DEFAULT}".') from None

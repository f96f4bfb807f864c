"""Set how much a tenant may store.

Set how many bytes, and how many messages and notes, a tenant may store. Without a limit: print
only.
"""

from typing import Any

from django.core.management.base import CommandParser

from memoryproject.tenancy import quotas
from memoryproject.tenancy.management.commands.set_rate import DEFAULT, read_limit
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        words = f'; 0: no limit; "{DEFAULT}": the server\'s'
        parser.add_argument("--bytes", help=f"of texts and metadata, in UTF-8{words}")
        parser.add_argument("--rows", help=f"messages, notes and their earlier versions{words}")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        given = {quotas.BYTES: options["bytes"], quotas.ROWS: options["rows"]}
        limits = {
            name: read_limit("quota", text) for name, text in given.items() if text is not None
        }
        quotas.set_quota(tenant, limits)
        stored = quotas.measure_storage(tenant)
        self.stdout.write(f"stored: {stored.bytes} bytes in {stored.rows} messages and notes")
        self.stdout.write(f"quota: {quotas.describe_quota(tenant)}")

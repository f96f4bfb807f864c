"""Distribute the tenants of a database over the nodes of Citus.

Distribute the tables of a migrated database by tenant, on the coordinator of a Citus cluster.
Nothing is served meanwhile. If it is stopped, run it again: it continues.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from wings.operations import distribution


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only print the remaining steps")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            distribution.check_citus()
            for statement in distribution.plan() if options["dry_run"] else distribution.run():
                self.stdout.write(f"{statement};")
            if not options["dry_run"]:
                for kind, number in sorted(distribution.count_kinds().items()):
                    self.stdout.write(f"{kind}: {number} tables")
        except distribution.NotDistributed as error:
            raise CommandError(str(error)) from error

"""List the databases that upgrades and restores have kept, go back to one, or delete them.

Stop web and workers before you go back. The current database is then kept, too.
"""

from contextlib import closing
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from memoryproject import embedded
from memoryproject.embedded import databases
from wings.operations.upgrade import steps


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []  # they would connect to what is to be renamed

    def add_arguments(self, parser: CommandParser) -> None:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--use", metavar="NAME", help="put this one in use")
        choice.add_argument(
            "--delete", nargs="?", const="", metavar="NAME", help="delete this one, or all"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED_POSTGRES:
            raise CommandError("Only the embedded PostgreSQL keeps databases.")
        address = embedded.locate(settings.DATA_DIR).address
        connections.close_all()
        with closing(databases.lock_upgrades(address, steps.LOCK)):
            self._do(address, options["use"], options["delete"])

    def _do(self, address: embedded.ServerAddress, use: str | None, delete: str | None) -> None:
        kept = databases.list_kept(address)
        if (name := use or delete) and name not in {one.name for one in kept}:
            raise CommandError(f"No kept database is called {name}.")
        if use:
            before = databases.put_in_use(address, use)
            self.stdout.write(
                f"{use} is in use again; what was is kept as {before}. Start the version that made"
                " it: this one would bring it up to date once more."
            )
        elif delete is not None:
            for one in kept:
                if delete in ("", one.name):
                    databases.delete(address, one.name)
                    self.stdout.write(f"{one.name} is deleted.")
        else:
            for one in kept:
                self.stdout.write(f"{one.name}  {one.bytes:,} bytes")
            if not kept:
                self.stdout.write("No database is kept.")

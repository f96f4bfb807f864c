"""Bring in facts from a file, CSV or JSONL.

Those that are not active yet are opened, as changesets that can be reverted. Without --reason it
only prints a preview. What was broken off goes on with --resume; the admin's page of imports
shows it, too.
"""

import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from memoryproject.edge.errors import get_row
from memoryproject.tenancy.management.naming import ServiceCommand
from memoryproject.tenancy.services import get_or_create_tenant
from wings.console.models import ImportRun
from wings.transfer import imports

PERSON = "manage.py"


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", nargs="?", type=Path, help="the file")
        parser.add_argument("--tenant", help="whose they become; made if missing")
        parser.add_argument("--reason", default="", help="why; kept in the changesets")
        parser.add_argument("--conversation", type=uuid.UUID, help="of rows that name none")
        parser.add_argument("--resume", type=uuid.UUID, metavar="RUN", help="go on with this one")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = self._find_run(options) if options["resume"] else self._start_run(options)
        except OSError as error:
            raise CommandError(f"The file cannot be read: {error.strerror}.") from error
        if run is None:
            return
        with tqdm(total=run.total, initial=run.done, unit=" facts", desc=f"import {run.id}") as bar:
            done = imports.finish_run(run, report=lambda total: bar.update(total - bar.n))
        self.stdout.write(f"{done.opened} facts opened.")

    def _find_run(self, options: dict[str, Any]) -> ImportRun:
        run = get_row(ImportRun.across_tenants.all(), "import", id=options["resume"])
        if run.state == ImportRun.State.PREVIEW:
            return imports.confirm_run(run, reason=options["reason"])
        return run

    def _start_run(self, options: dict[str, Any]) -> ImportRun | None:
        """Return the run to write; None where its reason is yet to be given."""
        if not options["path"] or not options["tenant"]:
            raise CommandError("Give a file and a tenant.")
        with options["path"].open("rb") as file:
            run = imports.start_run(
                tenant=get_or_create_tenant(name=options["tenant"]),
                person=PERSON,
                name=options["path"].name,
                file=file,
                conversation=options["conversation"],
            )
        self._print_preview(run)
        if options["reason"]:
            return imports.confirm_run(run, reason=options["reason"])
        imports.discard_run(run)
        self.stdout.write("Nothing was written. Give a --reason to import.")
        return None

    def _print_preview(self, run: ImportRun) -> None:
        self.stdout.write(f"{run.total} facts would be new.")
        for name, count in run.counts.items():
            if count:
                self.stdout.write(f"  {name.replace('_', ' ')}: {count}")
        for fault in run.faults:
            self.stdout.write(f"  line {fault['line']}: {fault['said']}")

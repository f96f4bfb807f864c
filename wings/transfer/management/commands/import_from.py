"""Import another memory system's or chat product's export, this server's, or a file of facts.

The export of another system, or of `export_memory all` (memory), becomes one changeset that can be
undone; facts, CSV or JSONL, become one per conversation. Without --reason only print what would be
imported. A second run of the same file changes nothing, but continues an interrupted one.
"""

import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from memoryproject.edge.json_files import ignore
from memoryproject.tenancy.management.naming import ServiceCommand
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.services import get_or_create_tenant
from semantic.curation import Act
from wings.console.models import ImportRun
from wings.transfer import imports
from wings.transfer.export_tables import MEMORY
from wings.transfer.file_imports import FileImport
from wings.transfer.memory_imports import MemoryImport
from wings.transfer.peer_files import NAMESPACE, SOURCES
from wings.transfer.peer_imports import PeerImport

PERSON, FACTS = "manage.py", "facts"
NOTHING = "Nothing was written. Give a --reason to import."
SHOWN = 40
"""Owners, and names of what is left out: each file has its own."""


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", choices=[*SOURCES, MEMORY, FACTS], help="the system that wrote the file"
        )
        parser.add_argument(
            "path", type=Path, help="a .json or .jsonl file, a ZIP archive; of facts .csv, too"
        )
        parser.add_argument("--tenant", required=True, help="tenant; created if missing")
        parser.add_argument("--user", default="", help="user, if the file names none")
        parser.add_argument(
            "--namespace", default="", metavar="PARTS",
            help="langmem: where its namespaces name the user, such as chat/{user_id}/{agent_id}; "
            f"by default {NAMESPACE}",
        )  # fmt: skip
        parser.add_argument(
            "--conversation", type=uuid.UUID, help="for facts: conversation of rows that name none"
        )
        parser.add_argument("--reason", default="", help="the reason; kept in the changeset")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._read(get_or_create_tenant(name=options["tenant"]), options)
        except OSError as error:
            raise CommandError(f"The file cannot be read: {error.strerror}.") from error

    def _read(self, tenant: Tenant, options: dict[str, Any]) -> None:
        path, source, reason = options["path"], options["source"], options["reason"]
        if source == FACTS:
            self._import_facts(tenant, path, options["conversation"], reason)
            return
        make: Callable[..., FileImport] = partial(MemoryImport, tenant, path, source)
        if source != MEMORY:
            owners = {"user_id": options["user"], "namespace": options["namespace"]}
            make = partial(PeerImport, tenant, path, source, **owners)
        # By bytes: an element may take long, and foreign elements are skipped.
        with tqdm(unit="B", unit_scale=True, desc="reading") as bar:
            preview = make(None, ignore, watch=bar.update)
            preview.run()
        self._print(preview)
        if not reason:
            self.stdout.write(NOTHING)
            return
        with tqdm(total=preview.counts.total(), unit=" records", desc="importing") as bar:
            self._import(make(Act(tenant=tenant, actor=PERSON, reason=reason), bar.update))

    def _import_facts(
        self, tenant: Tenant, path: Path, conversation: uuid.UUID | None, reason: str
    ) -> None:
        with path.open("rb") as file:
            run = imports.start_run(
                tenant=tenant, person=PERSON, name=path.name, file=file, conversation=conversation
            )
        self._print_facts(run)
        if not reason:
            imports.discard_run(run)
            self.stdout.write(NOTHING)
            return
        run = imports.confirm_run(run, reason=reason)
        with tqdm(total=run.total, unit=" facts", desc=f"import {run.id}") as bar:
            done = imports.finish_run(run, report=lambda total: bar.update(total - bar.n))
        self.stdout.write(f"{done.opened} facts opened.")

    def _print_facts(self, run: ImportRun) -> None:
        self.stdout.write(f"{run.total} facts would be new.")
        for name, count in run.counts.items():
            if count:
                self.stdout.write(f"  {name.replace('_', ' ')}: {count}")
        for fault in run.faults:
            self.stdout.write(f"  line {fault['line']}: {fault['said']}")

    def _import(self, file: FileImport) -> None:
        try:
            file.run()
        finally:
            if file.changeset is not None:
                self.stdout.write(
                    f"Imported as changeset {file.changeset.id}. To undo it: manage.py erase "
                    f'import {file.changeset.id} --tenant "{file.tenant.name}" --reason …'
                )
        if file.changeset is None:
            self.stdout.write("There was nothing new: nothing was written.")

    def _print(self, preview: FileImport) -> None:
        self.stdout.write(f"{'records':<14}{'what becomes of them':<36}{'number':>10}")
        for (kind, fate), number in sorted(preview.counts.items()):
            self.stdout.write(f"{kind:<14}{fate:<36}{number:>10,}")
        for (kind, name), number in preview.owners.most_common(SHOWN):
            self.stdout.write(f"{kind:<14}{name[:35] or 'nobody is named':<36}{number:>10,}")
        for name, number in preview.lost.most_common(SHOWN):
            self.stdout.write(f"{'left out':<14}{name[:35]:<36}{number:>10,}")
        for fault in preview.faults:
            self.stdout.write(f"left out: {fault}")
        for name, external_id in preview.homes.items():
            self.stdout.write(f"conversation {external_id}  {name}")

"""Write a tenant's facts, episodes, notes, links or messages to a file.

One row per line, or everything as JSON lines for import_from memory. Uses limited memory, however
many rows there are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from memoryproject.tenancy.management.naming import find_tenant
from wings.transfer import exports, row_files
from wings.transfer.export_tables import ALL, EXPORTS
from wings.transfer.exports import ExportFilter

PERSON = "manage.py"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("table", choices=[*EXPORTS, ALL])
        parser.add_argument("path", help="the file, - for standard output; .csv is CSV")
        parser.add_argument("--tenant", required=True)
        parser.add_argument(
            "--format", choices=row_files.FORMATS, help="the format, if the name does not tell it"
        )
        parser.add_argument(
            "--conversation", default="", help="only this conversation's, by its UUID"
        )
        parser.add_argument(
            "--state", default="", help="facts: held or closed; notes: held or deleted"
        )
        parser.add_argument("--since", default="", help="made on this day (UTC) or later")
        parser.add_argument("--until", default="", help="made on this day (UTC) or earlier")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["path"]
        if options["table"] == ALL:
            pieces = self._export_all(options)
        else:
            pieces = self._export_table(options)
        bar = tqdm(pieces, unit=" pieces", desc="exporting")
        try:
            if path == "-":
                for piece in bar:
                    self.stdout.write(piece, ending="")
            else:
                with Path(path).open("w", encoding="utf-8", newline="") as file:
                    file.writelines(bar)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

    def _export_all(self, options: dict[str, Any]) -> Iterator[str]:
        narrowing = ("format", "conversation", "state", "since", "until")
        if any(options[name] for name in narrowing):
            raise CommandError("`all` is everything, as JSON lines: it takes no other option.")
        return exports.start_memory_export(tenant=find_tenant(options["tenant"]), person=PERSON)

    def _export_table(self, options: dict[str, Any]) -> Iterator[str]:
        tenant = find_tenant(options["tenant"])
        export = EXPORTS[options["table"]]
        form = options["format"] or ("csv" if options["path"].endswith(".csv") else "jsonl")
        params = {**options, "conversation_id": options["conversation"]}
        filters = ExportFilter(params, export=export, tenant=tenant)
        if not filters.is_valid():
            faults = (f"{name}: {texts[0]}" for name, texts in filters.errors.items())
            raise CommandError("; ".join(faults))
        return exports.start_export(filters, form=form, person=PERSON)

"""Write facts, episodes, notes, links or messages to a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from console.transfer import exports, row_files
from console.transfer.export_tables import EXPORTS
from console.transfer.exports import ExportFilter
from memoryproject.tenancy.management.naming import find_tenant

PERSON = "manage.py"


class Command(BaseCommand):
    help = (
        "Write a tenant's facts, episodes, notes, links or messages to a file, a row a line. "
        "Memory stays bounded, however many there are. A file of facts can be imported again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("table", choices=list(EXPORTS))
        parser.add_argument("path", help="the file, - for standard output; .csv is CSV")
        parser.add_argument("--tenant", required=True)
        parser.add_argument(
            "--format", choices=row_files.FORMATS, help="if the name does not say it"
        )
        parser.add_argument("--conversation", default="", help="only this one's, by its UUID")
        parser.add_argument(
            "--state", default="", help="facts: held or closed; notes: held or deleted"
        )
        parser.add_argument("--since", default="", help="made on this day (UTC) or later")
        parser.add_argument("--until", default="", help="made on this day (UTC) or earlier")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        export, path = EXPORTS[options["table"]], options["path"]
        form = options["format"] or ("csv" if path.endswith(".csv") else "jsonl")
        params = {**options, "conversation_id": options["conversation"]}
        filters = ExportFilter(params, export=export, tenant=tenant)
        if not filters.is_valid():
            faults = (f"{name}: {texts[0]}" for name, texts in filters.errors.items())
            raise CommandError("; ".join(faults))
        pieces = exports.start_export(
            export=export, tenant=tenant, filters=filters, form=form, person=PERSON
        )
        bar = tqdm(pieces, unit=" thousand rows", desc="exporting")
        try:
            if path == "-":
                for piece in bar:
                    self.stdout.write(piece, ending="")
            else:
                with Path(path).open("w", encoding="utf-8", newline="") as file:
                    file.writelines(bar)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

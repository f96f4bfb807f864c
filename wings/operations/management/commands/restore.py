"""Restore a backup of this version or of an earlier one into the data folder.

Stop web and workers first. An existing database requires --replace, and is kept under another name.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from wings.operations.archive import backups
from wings.operations.archive.dumps import DumpFailed
from wings.operations.archive.files import BadBackup


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file written by backup")
        parser.add_argument(
            "--passphrase-file",
            default="",
            metavar="PATH",
            help="file whose first line is the passphrase",
        )
        parser.add_argument("--replace", action="store_true", help="replace an existing database")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        try:
            backups.restore(
                path,
                passphrase=backups.read_passphrase(options["passphrase_file"]),
                replaces=options["replace"],
                report=self.stdout.write,
            )
        except BadBackup as error:
            raise CommandError(str(error)) from error
        except DumpFailed as error:
            raise CommandError(f"The backup could not be restored: {error}") from error
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        self.stdout.write("Restored. Start web and workers again.")

"""Write a backup to a file: the database and its secrets.

The server may run meanwhile. Only you can read the file; with a passphrase it is encrypted as well.
`restore` reads it.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from wings.operations.archive import backups
from wings.operations.archive.dumps import DumpFailed


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file; an existing one is replaced")
        parser.add_argument(
            "--passphrase-file",
            default="",
            metavar="PATH",
            help="file whose first line is the passphrase",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        passphrase = backups.read_passphrase(options["passphrase_file"])
        try:
            backups.back_up(path, passphrase=passphrase)
        except DumpFailed as error:
            raise CommandError(f"The database could not be read: {error}") from error
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        kept = "encrypted" if passphrase else "with the secrets in it: keep it where nobody reads"
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes, {kept}")

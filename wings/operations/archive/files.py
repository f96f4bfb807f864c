"""The file of a backup: a ZIP archive with the database's dump, the secrets and a manifest.

Any ZIP tool reads it, unless dump and secrets are encrypted with a passphrase; then their names end
in `.sealed`. It is never readable by others: its mode is 0600 from the start.
"""

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wings.operations.archive.sealing import NotOpened, Sealer, open_sealed

FORMAT = "memory-server backup"
VERSION = 1
MANIFEST, DUMP, SECRETS = "manifest.json", "database.dump", "secrets.json"
SEALED = ".sealed"
PART = 1024 * 1024
SMALL_AT_MOST = 1024 * 1024
"""Largest size in bytes of a manifest or of secrets."""


class BadBackup(Exception):
    """The file is not a backup, or cannot be opened; the message says what to do."""


@contextmanager
def create_private(path: Path) -> Iterator[Path]:
    """Yield the name of an empty file of mode 0600, renamed to `path` when the block ends.

    After an error, `path` is unchanged and no other file is left.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_backup(
    path: Path,
    *,
    dump: Iterable[bytes],
    secrets: Mapping[str, str],
    passphrase: str,
    notes: Mapping[str, Any],
) -> None:
    """Write a backup to `path`, completely or not at all; `notes` are put in its manifest."""
    with create_private(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        manifest = {"format": FORMAT, "version": VERSION, "sealed": bool(passphrase), **notes}
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        _write_member(archive, SECRETS, [json.dumps(dict(secrets)).encode()], passphrase)
        _write_member(archive, DUMP, dump, passphrase)


def _write_member(
    archive: zipfile.ZipFile, name: str, parts: Iterable[bytes], passphrase: str
) -> None:
    stored = f"{name}{SEALED}" if passphrase else name
    with archive.open(stored, "w", force_zip64=True) as member:
        if not passphrase:
            for part in parts:
                member.write(part)
            return
        sealer = Sealer(member.write, passphrase=passphrase, name=name)
        for part in parts:
            sealer.write(part)
        sealer.close()


@dataclass(frozen=True)
class Backup:
    """An opened backup."""

    manifest: Mapping[str, Any]
    secrets: Mapping[str, str]
    read_dump: Callable[[], Iterator[bytes]]
    """Function that yields the dump in parts; BadBackup if a part was changed."""


@contextmanager
def open_backup(path: Path, *, passphrase: str) -> Iterator[Backup]:
    """Open a backup for as long as the block lasts.

    Raises:
        BadBackup: it is not a backup, or the passphrase is wrong.
        OSError: it cannot be read.
    """
    with _explaining(path):
        archive = zipfile.ZipFile(path)
    with archive:
        manifest = _read_manifest(archive, path)
        if manifest["sealed"] and not passphrase:
            raise BadBackup(f"{path} is sealed by a passphrase: give --passphrase-file.")
        seal = passphrase if manifest["sealed"] else ""
        secrets = b"".join(_read_member(archive, SECRETS, seal, path))
        with _explaining(path):
            kept = {str(name): str(value) for name, value in json.loads(secrets).items()}
        yield Backup(manifest, kept, lambda: _read_member(archive, DUMP, seal, path))


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    with _explaining(path), archive.open(MANIFEST) as member:
        manifest: dict[str, Any] = json.loads(member.read(SMALL_AT_MOST))
        if manifest["format"] != FORMAT or manifest["version"] != VERSION:
            raise BadBackup(f"{path} is no backup that this version of the server reads.")
        manifest["sealed"] = bool(manifest["sealed"])
    return manifest


def _read_member(
    archive: zipfile.ZipFile, name: str, passphrase: str, path: Path
) -> Iterator[bytes]:
    with _explaining(path), archive.open(f"{name}{SEALED}" if passphrase else name) as member:
        if passphrase:
            yield from open_sealed(member.read, passphrase=passphrase, name=name)
            return
        while part := member.read(PART):
            yield part


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Raise BadBackup with an explanation if reading the archive fails."""
    try:
        yield
    except NotOpened as error:
        raise BadBackup("The passphrase is not the one, or the backup was changed.") from error
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadBackup(f"{path} is no backup, or it was damaged.") from error

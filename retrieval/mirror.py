"""The mirror's folder: a page of markdown a memory, found again without the database.

`<tenant id>/YYYY/MM/DD/HH_MM_SS_memory_<memory id>.md`. Folder and name follow from ids
alone: nothing that anybody said becomes part of a path, a page never moves, and whose it
is, is known from where it lies.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

PAGE_NAME = re.compile(r"\d\d_\d\d_\d\d_memory_([0-9a-f-]{36})\.md")
DAY = re.compile(r"\d\d|\d{4}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOCK = ".lock"


class FolderAway(Exception):
    """The mirror's folder cannot be written now."""


def is_on() -> bool:
    """Return whether memories are mirrored."""
    return settings.MIRROR_DIR is not None


def find_root() -> Path:
    """Return the folder of all mirrors.

    Raises:
        FolderAway: nothing is mirrored.
    """
    if settings.MIRROR_DIR is None:
        raise FolderAway("MEMORY_MIRROR_DIR is not set.")
    return Path(settings.MIRROR_DIR)


def place_of(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> Path:
    """Return where a memory's page lies, within the folder of all mirrors."""
    made = made_at(memory_id)
    return Path(str(tenant_id)) / f"{made:%Y/%m/%d}" / f"{made:%H_%M_%S}_memory_{memory_id}.md"


def made_at(memory_id: uuid.UUID) -> datetime:
    """Return when an id was made, UTC: the first 48 bits of a UUIDv7 say so."""
    return EPOCH + timedelta(milliseconds=min(memory_id.int >> 80, 2**47))


def find_page(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> str | None:
    """Return the place of a memory's page, or None where there is none."""
    if not is_on():
        return None
    place = place_of(tenant_id, memory_id)
    return str(place) if (find_root() / place).is_file() else None


def read_text(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> str | None:
    """Return a memory's page, or None where there is none."""
    try:
        return (find_root() / place_of(tenant_id, memory_id)).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def store_text(tenant_id: uuid.UUID, memory_id: uuid.UUID, text: str) -> None:
    """Write a page whole: a reader sees the old one or the new one."""
    path = find_root() / place_of(tenant_id, memory_id)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def remove(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> None:
    """Take a memory's page away, if there is one."""
    (find_root() / place_of(tenant_id, memory_id)).unlink(missing_ok=True)


def remove_drafts(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> None:
    """Take away what a process that died has left of a page. Nobody may be writing."""
    path = find_root() / place_of(tenant_id, memory_id)
    for draft in path.parent.glob(f".{path.name}.*"):
        draft.unlink(missing_ok=True)


@contextmanager
def writing(tenant_id: uuid.UUID) -> Iterator[None]:
    """Hold a tenant's mirror: who reads rows and writes pages inside is never overtaken.

    Raises:
        FolderAway: the folder cannot be written.
    """
    folder = find_root() / str(tenant_id)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise FolderAway(type(error).__name__) from error


def pages_of(tenant_id: uuid.UUID) -> Iterator[tuple[uuid.UUID, Path]]:
    """Yield the id and the file of each of a tenant's pages, the newest first."""
    for year in _sorted(find_root() / str(tenant_id)):
        for month in _sorted(year):
            for day in _sorted(month):
                yield from _pages_in(day)


def _sorted(folder: Path) -> list[Path]:
    try:
        inner = [one for one in folder.iterdir() if DAY.fullmatch(one.name) and one.is_dir()]
    except OSError:
        return []
    return sorted(inner, reverse=True)


def _pages_in(day: Path) -> Iterator[tuple[uuid.UUID, Path]]:
    for name in sorted(os.listdir(day), reverse=True):
        found = PAGE_NAME.fullmatch(name)
        if found:
            yield uuid.UUID(found[1]), day / name

"""The mirror: a markdown file for each active memory, written after each commit.

`<tenant id>/YYYY/MM/DD/HH_MM_SS_memory_<memory id>.md`. Folder and name depend only on ids: no text
becomes part of a path, a page never moves, and the path tells its tenant. The rows are
authoritative: a page is written from the rows active at that time, under the tenant's lock, so the
last writer has the latest data.
"""

import fcntl
import os
import re
import secrets
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from django.conf import settings

from indexing.models import Memory as MemoryRow
from indexing.models import MemoryKind
from jobs.claims import Claim, OutsideAway, commit
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from retrieval.memory import Memory, load_memories
from wings.navigation.mirror.page import write_page
from wings.notes.models import Link

PAGE_NAME = re.compile(r"\d\d_\d\d_\d\d_memory_([0-9a-f-]{36})\.md")
DAY = re.compile(r"\d\d|\d{4}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOCK = ".lock"
BATCH = 200
"""Number of memories written at once, under one lock."""


class FolderAway(OutsideAway):
    """The mirror's folder cannot be written now."""


def is_on() -> bool:
    return settings.MIRROR_DIR is not None


def find_root() -> Path:
    """Return the folder of all tenants' mirrors.

    Raises:
        FolderAway: nothing is mirrored.
    """
    if settings.MIRROR_DIR is None:
        raise FolderAway("MEMORY_MIRROR_DIR is not set.")
    return Path(settings.MIRROR_DIR)


def place_of(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> Path:
    """Return the path of a memory's page, within the folder of all mirrors."""
    created = made_at(memory_id)
    return (
        Path(str(tenant_id)) / f"{created:%Y/%m/%d}" / f"{created:%H_%M_%S}_memory_{memory_id}.md"
    )


def made_at(memory_id: uuid.UUID) -> datetime:
    """Return when an id was made, UTC, from the first 48 bits of the UUIDv7."""
    return EPOCH + timedelta(milliseconds=min(memory_id.int >> 80, 2**47))


def find_page(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> str | None:
    """Return the path of a memory's page, or None."""
    if not is_on():
        return None
    place = place_of(tenant_id, memory_id)
    return str(place) if (find_root() / place).is_file() else None


def read_text(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> str | None:
    """Return a memory's page, or None."""
    try:
        return (find_root() / place_of(tenant_id, memory_id)).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def store_text(tenant_id: uuid.UUID, memory_id: uuid.UUID, text: str) -> None:
    """Write a page atomically: a reader sees the old one or the new one."""
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
    (find_root() / place_of(tenant_id, memory_id)).unlink(missing_ok=True)


def remove_drafts(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> None:
    """Delete drafts of pages left by a killed process. Nobody may be writing."""
    path = find_root() / place_of(tenant_id, memory_id)
    for draft in path.parent.glob(f".{path.name}.*"):
        draft.unlink(missing_ok=True)


@contextmanager
def writing(tenant_id: uuid.UUID) -> Iterator[None]:
    """Lock a tenant's mirror, for reading rows and writing pages without being overtaken.

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
    """Yield id and file of each of a tenant's pages, newest first."""
    for folder, inner, names in os.walk(find_root() / str(tenant_id)):
        inner[:] = sorted(filter(DAY.fullmatch, inner), reverse=True)
        for match in filter(None, map(PAGE_NAME.fullmatch, sorted(names, reverse=True))):
            yield uuid.UUID(match[1]), Path(folder) / match[0]


def mirror_changed(claim: Claim) -> None:
    """Write the pages of the job's memories, and delete those of inactive ones.

    Raises:
        FolderAway: some are not written; try again later.
        LeaseLost: somebody else does the same.
    """
    for ids in in_batches(sorted(uuid.UUID(name) for name in claim.input), size=BATCH):
        mirror_memories(tenant=claim.tenant, memory_ids=ids)
    with commit(claim):
        return


def mirror_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Make the pages of some memories match their rows.

    Raises:
        FolderAway: the folder cannot be written.
    """
    with writing(tenant.id):
        pages = load_pages(tenant=tenant, memory_ids=memory_ids)
        for memory_id in memory_ids:
            page = pages.get(memory_id)
            if page is None:
                remove(tenant.id, memory_id)
            else:
                store_text(tenant.id, memory_id, write_page(page))


def load_pages(*, tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Memory]:
    """Return the active ones of the memories, by id, with their stored links."""
    memories = load_memories(tenant=tenant, memory_ids=memory_ids, active_only=True)
    links: dict[uuid.UUID, list[tuple[str, uuid.UUID]]] = defaultdict(list)
    rows = Link.objects.of(tenant).filter(
        from_memory__in=memories, to_memory__in=MemoryRow.objects.of(tenant)
    )
    for link in rows.order_by("id"):
        links[link.from_memory_id].append((link.link_type, link.to_memory_id))
    return {
        memory_id: replace(
            memory,
            label=memory.content if memory.kind is MemoryKind.FACT else memory.label,
            links=tuple(links[memory_id]),
        )
        for memory_id, memory in memories.items()
    }


def rebuild(*, tenant: Tenant, report: Callable[[int], object]) -> None:
    """Write every page of a tenant again, and delete those of inactive memories.

    May run at any time. `report` gets the number of memories done.

    Raises:
        FolderAway: the folder cannot be written.
    """
    after = uuid.UUID(int=0)
    while True:
        rows = MemoryRow.objects.of(tenant).filter(id__gt=after).order_by("id")
        batch = list(rows.values_list("id", flat=True)[:BATCH])
        if not batch:
            break
        mirror_memories(tenant=tenant, memory_ids=batch)
        report(len(batch))
        after = batch[-1]
    pages = (memory_id for memory_id, _ in pages_of(tenant.id))
    while some := list(islice(pages, BATCH)):
        there = set(MemoryRow.objects.of(tenant).filter(id__in=some).values_list("id", flat=True))
        for memory_id in set(some) - there:
            remove(tenant.id, memory_id)

"""Fills a database with notes, what finds them, and links, as they are after years: by COPY."""

from __future__ import annotations

import argparse
import random
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pgvector import HalfVector
from tqdm import trange

from bench.graph.texts import Texts
from bench.retrieval import databases
from bench.retrieval.databases import FULL, Connection
from bench.retrieval.load import copy, prepare
from bench.retrieval.rows import COLUMNS, LANGUAGE
from indexing import text
from indexing.kinds import LinkType
from indexing.models import SearchUnit, SearchVector
from memoryproject.database.ids import make_id

TENANT = uuid.UUID(int=1)
STRANGER = uuid.UUID(int=2)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=1)
"""From a note to the next."""
TYPES = [kind.value for kind in LinkType]
DELETED_EVERY = 200
"""One note in so many was deleted; its links stand, and nothing finds it."""
USERS = 100
BATCH = 2_000
VERSION = 2
"""Of what is loaded: data of another version are not used again."""
NOTE_COLUMNS = (
    "id, tenant_id, version, source_type, source_id, user_id, label, description, content,"
    " importance, category, emotion_type, emotion_valence, tags, metadata, span_id, source_path,"
    " excerpt, occurred_at, actor, updated_at, body_sha256, deleted_at, deleted_by"
)


def note_id(number: int) -> uuid.UUID:
    """Return the id of a note: in order of making, as UUIDv7s are."""
    moment = int(FIRST.timestamp() * 1000) + number * 1000
    return uuid.UUID(int=moment << 80 | 7 << 76 | 2 << 62 | number)


def load(given: argparse.Namespace, texts: Texts) -> None:
    """Add a tenant with what is asked for, and a stranger with a tenth of it."""
    with databases.superuser(FULL) as connection:
        prepare(connection)
        connection.execute("SET session_replication_role = replica")
        owners = [(TENANT, "graph"), (STRANGER, "stranger")]
        _copy(
            connection,
            "tenancy_tenant (id, name, settings, created_at)",
            ((owner, name, "{}", FIRST) for owner, name in owners),
        )
        tenth = given.notes // 10
        for tenant, first, notes, links, hubs in (
            (TENANT, 0, given.notes, given.links, given.hubs),
            (STRANGER, given.notes, tenth, given.links // 10, 0),
        ):
            for start in trange(first, first + notes, BATCH, unit_scale=BATCH, unit=" notes"):
                numbers = range(start, min(start + BATCH, first + notes))
                _copy_notes(connection, tenant, numbers, texts)
            connection.execute("SET session_replication_role = replica")
            rows = _draw_links(
                random.Random(given.seed), first, notes, links, hubs, given.hub_links
            )
            target = (
                "notes_link (id, tenant_id, from_memory_id, to_memory_id, link_type, made_by,"
                " actor, created_at)"
            )
            made = (
                (uuid.UUID(int=place + (tenant.int << 100)), tenant, *row, "agent", "key", FIRST)
                for place, row in enumerate(rows)
            )
            _copy(connection, target, made)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM (ANALYZE)")


def _copy_notes(connection: Connection, tenant: uuid.UUID, numbers: range, texts: Texts) -> None:
    connection.execute("SET session_replication_role = replica")
    _copy(
        connection,
        "indexing_memory (id, tenant_id, kind, created_at)",
        ((note_id(number), tenant, "note", FIRST) for number in numbers),
    )
    said, vectors = texts.write(numbers)
    _copy(
        connection,
        f"notes_note ({NOTE_COLUMNS})",
        (_make_note(tenant, *one) for one in zip(numbers, said, strict=True)),
    )
    units, directions = [], []
    for number, words, vector in zip(numbers, said, vectors, strict=True):
        if is_deleted(number):
            continue
        unit, at = make_id(), FIRST + number * STEP
        scope = (tenant, None, note_id(number), "note", "", at, "note")
        prepared = text.prepare(f"Note {number}\n{words}")
        units.append((unit, *scope, 0, 0, LANGUAGE, prepared, None))
        own = (unit, texts.model, len(vector), HalfVector(vector), None)
        directions.append((make_id(), *scope, *own))
    copy(connection, SearchUnit, COLUMNS[SearchUnit], units)
    copy(connection, SearchVector, COLUMNS[SearchVector], directions)


def pick_note(chance: random.Random, notes: int) -> uuid.UUID:
    """Return any note that is not deleted."""
    number = chance.randrange(notes)
    return note_id(number - is_deleted(number))


def is_deleted(number: int) -> bool:
    """Return whether a note was deleted."""
    return number % DELETED_EVERY == DELETED_EVERY - 1


def _make_note(tenant: uuid.UUID, number: int, said: str) -> tuple[Any, ...]:
    at = FIRST + number * STEP
    return (
        note_id(number), tenant, 1, "note", "", user_of(number), f"Note {number}", "", said,
        number % 11 / 10, "", "", "", [], "{}", "", "", "", at, "key", at, "",
        at if is_deleted(number) else None, "",
    )  # fmt: skip


def user_of(number: int) -> str:
    """Return whom a note is about."""
    return f"user-{number % USERS}"


def _draw_links(
    chance: random.Random, first: int, notes: int, links: int, hubs: int, hub_links: int
) -> Iterator[tuple[uuid.UUID, uuid.UUID, str]]:
    """Yield links, each once: those of hubs, half of them inwards, then between any two."""
    seen: set[tuple[int, int, str]] = set()
    hub_numbers = hub_places(notes, hubs)
    while len(seen) < links:
        place = len(seen)
        near = (
            hub_numbers[place // hub_links] if place < hubs * hub_links else chance.randrange(notes)
        )
        far = chance.randrange(notes)
        ends = (near, far) if place % 2 else (far, near)
        key = (*ends, chance.choice(TYPES))
        if near != far and key not in seen:
            seen.add(key)
            yield note_id(first + key[0]), note_id(first + key[1]), key[2]


def hub_places(notes: int, hubs: int) -> list[int]:
    """Return which notes are hubs: spread over time, none of them deleted."""
    return [notes * (2 * place + 1) // (2 * hubs) for place in range(hubs)]


def _copy(connection: Connection, target: str, rows: Iterable[tuple[Any, ...]]) -> None:
    # The target is a constant of this module.
    with connection.cursor().copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)

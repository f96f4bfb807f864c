"""Keyword search over a whole tenant, for the admin.

Agents search conversations by words and meaning, see `retrieval`; here a person looks for
remembered words, wherever they were said.
"""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db import transaction

from indexing import text
from indexing.languages import LANGUAGES
from indexing.models import UnitKind
from memoryproject.database.clock import execute, read_sql

CANDIDATES_AT_MOST = 8_000
"""Number of units taken from the index; if more match, the newest units are scanned instead."""
POOL = 500
"""Number of newest matching units that are scored."""
WALKED_AT_MOST = 200_000
FREQUENT = 2_000
"""Largest count of units with a word; more are not counted."""
WORDS_AT_MOST = 20
QUERY_AT_MOST = 1_000
ASKED = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search; None: everywhere. Times filter `valid_at`, `until` excluded."""

    tenant_id: uuid.UUID | None = None
    conversation_id: uuid.UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Sought:
    """A query as typed: its words, and its quoted phrases, letter by letter."""

    words: str
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A memory, or one of its messages, that matches. `lexemes`: words of the query in it."""

    memory_id: uuid.UUID
    conversation_id: uuid.UUID
    seq: int | None
    language: str
    lexemes: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches, best first. `complete`: no older unit was left unread."""

    found: tuple[Match, ...]
    complete: bool = True


def read_query(typed: str) -> Sought:
    """Return the parsed query; of a long text only its beginning is used."""
    words: list[str] = []
    phrases: list[str] = []
    for quoted, word in ASKED.findall(typed[:QUERY_AT_MOST].replace("\x00", " ")):
        if quoted.strip():
            phrases.append(" ".join(quoted.split()))
        words += quoted.split() or [word]
    return Sought(" ".join(words[:WORDS_AT_MOST]), tuple(phrases))


def find(
    sought: Sought,
    *,
    kind: UnitKind,
    scope: Scope = EVERYWHERE,
    every: bool = True,
    candidates: int = CANDIDATES_AT_MOST,
    pool: int = POOL,
) -> Matches:
    """Return what of a kind holds all the words (any of them, unless `every`), best first.

    Of many matches the newest `pool` are ranked. Takes a transaction of its own.
    """
    words = text.prepare(sought.words)
    if not words.strip():
        return Matches(())
    folded = map(_fold, sought.phrases)
    params = {
        "kind": kind.value,
        "words": words,
        "every": every,
        "languages": list(LANGUAGES),
        "phrases": [phrase for phrase in folded if not text.UNSPACED.search(phrase)],
        "tenant": scope.tenant_id,
        "conversation": scope.conversation_id,
        "since": scope.since,
        "until": scope.until,
        "candidates": candidates,
        "pool": pool,
        "frequent": FREQUENT,
        "walked": WALKED_AT_MOST,
        # Walking back from now would not reach old or widely scattered matches.
        "walks": every and scope == Scope(tenant_id=scope.tenant_id),
    }
    of_tenant = scope.tenant_id is not None
    rows = _run(_statement(walks=False, of_tenant=of_tenant), params)
    many = bool(rows[0][0])
    if many and params["walks"]:
        rows = _run(_statement(walks=True, of_tenant=of_tenant), params)
    matches = tuple(_once(rows, by_place=kind is UnitKind.MESSAGE))
    return Matches(matches, complete=not many and len(matches) < pool)


def _fold(phrase: str) -> str:
    """Return a phrase folded like indexed text; unspaced scripts stay as they are."""
    return phrase if text.UNSPACED.search(phrase) else " ".join(text.prepare(phrase).split())


def _once(rows: list[Any], *, by_place: bool) -> Iterator[Match]:
    """Yield each memory, or each of its messages, once: a long text has several units."""
    seen = set()
    for _, unit_id, memory_id, conversation_id, seq, language, lexemes, score in rows:
        key = (memory_id, seq if by_place else None)
        if unit_id is None or key in seen:
            continue
        seen.add(key)
        yield Match(memory_id, conversation_id, seq, language, tuple(lexemes), score)


def _run(statement: str, params: dict[str, Any]) -> list[Any]:
    with transaction.atomic():
        # Without statistics of the terms yet, the planner could think of reading everything.
        execute("SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '32MB'")
        return execute(statement, params)


@cache
def _statement(*, walks: bool, of_tenant: bool) -> str:
    """Return the text of the statement, put together from files only."""
    body = read_sql(__file__, "tenant_words.sql")
    parts = {
        "pool": read_sql(__file__, "pool_by_walking.sql" if walks else "pool_by_index.sql"),
        "narrowed": read_sql(__file__, "narrowed.sql"),
        "of_tenant": " AND tenant_id = %(tenant)s::uuid" if of_tenant else "",
    }
    for name, part in parts.items():
        body = body.replace(f"{{{name}}}", part)
    return body

"""Searching the mirror's pages by their words, for while the database is away.

No index and no vectors: the newest pages are read one by one, for a limited time.
"""

from __future__ import annotations

import math
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from indexing import text
from retrieval import mirror
from retrieval.mirror_page import Page, UnreadablePage, read_page

PAGES_AT_MOST = 20_000
SECONDS_AT_MOST = 2.0
AHEAD = timedelta(hours=24)
"""A memory may be of a time that far after it was made."""
WORD = re.compile(r"\w+")
LONG = 4
"""Letters from which on a word is looked for within longer ones: there are no stems here."""
EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pages count: those for which all that is not None holds."""

    conversation: uuid.UUID | None = None
    user_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    category: str | None = None
    min_importance: float | None = None
    emotion_valence: str | None = None
    kinds: frozenset[str] | None = None
    source_types: frozenset[str] | None = None
    source_ids: frozenset[str] | None = None

    def takes(self, page: Page) -> bool:
        """Return whether a page is one of them."""
        return (
            self.conversation in (None, page.conversation)
            and self.user_id in (None, page.user_id)
            and (self.since is None or page.at >= self.since)
            and (self.until is None or page.at <= self.until)
            and self.category in (None, page.category)
            and (self.min_importance is None or page.importance >= self.min_importance)
            and self.emotion_valence in (None, page.emotion_valence)
            and (self.kinds is None or page.kind in self.kinds)
            and (self.source_types is None or page.source_type in self.source_types)
            and (self.source_ids is None or page.source_id in self.source_ids)
        )


@dataclass(frozen=True, slots=True)
class Match:
    """A page that holds words of the query. `share` of their weight, above 0 to 1."""

    page: Page
    share: float


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found, best first, then newest. `cut`: older pages were not read."""

    found: tuple[Match, ...]
    total: int
    """Pages that match, returned or not."""
    cut: bool


def search_pages(
    *,
    tenant_id: uuid.UUID,
    query: str,
    wanted: Wanted,
    at_most: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Matches:
    """Return the pages of one tenant that hold most of what the query asks for.

    A word weighs the more the fewer pages hold it. Of `*` each page holds the half.
    """
    words = _words_of(query)
    until = clock() + SECONDS_AT_MOST
    held: list[tuple[Page, frozenset[str]]] = []
    read, cut = 0, False
    for read, page in enumerate(_pages(tenant_id, wanted), start=1):
        if read > PAGES_AT_MOST or clock() > until:
            cut = True
            break
        if page is None or not wanted.takes(page):
            continue
        matching = _held_words(words, text.prepare(page.content))
        if matching or query.strip() == EVERYTHING:
            held.append((page, matching))
    return Matches(_rank(held, words, read=read)[:at_most], total=len(held), cut=cut)


def _words_of(query: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.prepare(query)))


def _held_words(words: frozenset[str], content: str) -> frozenset[str]:
    """Return the words that a text holds: long ones as a part of another too, short ones not."""
    whole = frozenset(WORD.findall(content))
    return frozenset(
        word for word in words if word in whole or (len(word) >= LONG and word in content)
    )


def _pages(tenant_id: uuid.UUID, wanted: Wanted) -> Iterator[Page | None]:
    """Yield what can be read, newest first; None: a page that cannot."""
    for memory_id, _ in mirror.pages_of(tenant_id):
        if wanted.since is not None and mirror.made_at(memory_id) < wanted.since - AHEAD:
            return
        yield load_page(tenant_id, memory_id)


def load_page(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> Page | None:
    """Return a tenant's page of a memory; None: there is none, or it cannot be read."""
    written = mirror.read_text(tenant_id, memory_id)
    try:
        page = read_page(written) if written is not None else None
    except UnreadablePage:
        return None
    return page if page is not None and page.id == memory_id else None


def _rank(
    held: list[tuple[Page, frozenset[str]]], words: frozenset[str], *, read: int
) -> tuple[Match, ...]:
    holding = Counter(word for _, matching in held for word in matching)
    weights = {word: math.log(1 + (read + 1) / (holding[word] + 0.5)) for word in words}
    whole = sum(weights.values())
    matches = [
        Match(page, share=sum(weights[word] for word in matching) / whole if matching else 0.5)
        for page, matching in held
    ]
    return tuple(
        sorted(matches, key=lambda match: (match.share, match.page.at, match.page.id), reverse=True)
    )

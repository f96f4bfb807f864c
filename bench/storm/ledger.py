"""What the clients know: what they sent, and where they were told that it lies."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Posting:
    """One request to store messages, under its idempotency key."""

    key: str
    tenant: int
    conversation: uuid.UUID
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server says that a message lies."""

    message_id: str
    seq: int


Accepted = tuple[Posting, tuple[Place, ...]]


class Ledger:
    """Keeps every 2xx that a client saw."""

    def __init__(self) -> None:
        self.sent: dict[str, Posting] = {}
        self.accepted: dict[str, tuple[Place, ...]] = {}
        self.contradictions = 0
        """Answers to one key that named other places than the first answer did."""
        self.statuses: Counter[str] = Counter()
        self.duplicates_sent = 0
        self._lock = threading.Lock()

    def note_sent(self, posting: Posting) -> None:
        """Remember a request before it goes out."""
        with self._lock:
            self.sent[posting.key] = posting

    def note_duplicate(self) -> None:
        """Count a request that repeats another."""
        with self._lock:
            self.duplicates_sent += 1

    def note_status(self, call: str, status: int) -> None:
        """Count an answer; a status of 0 says that there was none."""
        with self._lock:
            self.statuses[f"{call} {status or 'none'}"] += 1

    def note_accepted(self, posting: Posting, body: dict[str, Any]) -> None:
        """Remember where an answer of 200 or 201 says that the messages lie."""
        rows = body.get("messages", [body])
        places = tuple(Place(str(row["message_id"]), int(row["seq"])) for row in rows)
        with self._lock:
            known = self.accepted.get(posting.key)
            if known is None:
                self.accepted[posting.key] = places
            elif known != places:
                self.contradictions += 1

    def all_accepted(self) -> list[Accepted]:
        """Return each request that was answered with 2xx, and its first answer."""
        with self._lock:
            return [(self.sent[key], places) for key, places in self.accepted.items()]

    def count_accepted(self) -> int:
        """Return how many messages were answered with 2xx."""
        with self._lock:
            return sum(map(len, self.accepted.values()))

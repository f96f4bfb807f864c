"""The state of a fact before and after a change: active, or retired and why."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from semantic.models import Fact

Json = dict[str, Any] | None
Pair = tuple[Json, Json]
"""A state before and after, as a change stores them."""
NONE: Json = None
"""Of a fact that was not there yet."""


@dataclass(frozen=True, slots=True)
class State:
    """What of a fact can change. `because` is empty while it is active."""

    because: str = ""
    valid_until: datetime | None = None
    superseded_by: uuid.UUID | None = None

    @property
    def is_active(self) -> bool:
        """Whether the fact is active."""
        return not self.because

    def to_json(self) -> Json:
        """Return what a change stores of it."""
        return {
            "because": str(self.because),
            "valid_until": self.valid_until.isoformat() if self.valid_until else None,
            "superseded_by": str(self.superseded_by) if self.superseded_by else None,
        }

    def is_like(self, other: State) -> bool:
        """Return whether a fact is active, or retired for the same reason, in both."""
        return (self.because, self.superseded_by) == (other.because, other.superseded_by)


ACTIVE: Json = State().to_json()


def read_state(fact: Fact) -> State:
    """Return the state that a fact is in."""
    return State(
        because=fact.invalidated_because,
        valid_until=fact.valid_until,
        superseded_by=fact.superseded_by_id,
    )


def from_json(stored: Json) -> State | None:
    """Return the state that a change stores; None: the fact was not there."""
    if stored is None:
        return None
    until, newer = stored["valid_until"], stored["superseded_by"]
    return State(
        because=stored["because"],
        valid_until=datetime.fromisoformat(until) if until else None,
        superseded_by=uuid.UUID(newer) if newer else None,
    )

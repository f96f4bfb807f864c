"""The state of a fact before and after a change: active, or retired and why."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from semantic.models import Fact


@dataclass(frozen=True, slots=True)
class State:
    """The part of a fact that can change. `because` is empty while it is active."""

    because: str = ""
    valid_until: datetime | None = None
    superseded_by: uuid.UUID | None = None

    @property
    def is_active(self) -> bool:
        """Whether the fact is active."""
        return not self.because

    def is_like(self, other: State) -> bool:
        """Return whether both are active, or both retired for the same reason."""
        return (self.because, self.superseded_by) == (other.because, other.superseded_by)


Pair = tuple[State | None, State]
"""The states before and after a step; None: the fact did not exist yet."""
_STORED: TypeAdapter[State | None] = TypeAdapter(State | None)


def read_state(fact: Fact) -> State:
    """Return the current state of a fact."""
    return State(fact.invalidated_because, fact.valid_until, fact.superseded_by_id)


def to_json(state: State | None) -> Any:
    """Return a state as a change stores it."""
    return _STORED.dump_python(state, mode="json")


def from_json(stored: Any) -> State | None:
    """Return a state that a change stored; None: the fact did not exist."""
    return _STORED.validate_python(stored)

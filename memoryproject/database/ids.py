"""Ids in order of creation."""

import uuid
from datetime import datetime

import uuid_utils.compat


def make_id() -> uuid.UUID:
    """Return a new UUIDv7: unique, and in order of creation."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """Return the smallest id that could be made at `moment`: all earlier ids are smaller.

    So a span of time is a range of ids. The clock is that of the process that made them.
    """
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)

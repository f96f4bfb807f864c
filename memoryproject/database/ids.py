"""Identifiers that are in order of making."""

import uuid
from datetime import datetime

import uuid_utils.compat


def make_id() -> uuid.UUID:
    """Return a new UUIDv7: unique, and in order of making."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """Return what is not above any id made from `moment` on, and above all made before.

    So a span of time is a range of ids. The clock is that of the process that made them.
    """
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)

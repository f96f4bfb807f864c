"""Counts the answers that memories were served in."""

import uuid
from collections.abc import Collection
from typing import Any

from django.db import connection

from memoryproject.tenancy.models import Tenant
from retrieval.statements import read_file

SERVED_AT_MOST = 1_000
"""Further servings of a memory are not counted."""


def count_served(tenant: Tenant, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[int, int]]:
    """Return how often memories were served, and in how many conversations, each up to a cap."""
    params: dict[str, Any] = {"tenant": tenant.id, "ids": list(ids), "at_most": SERVED_AT_MOST}
    with connection.cursor() as cursor:
        cursor.execute(read_file("served.sql"), params)
        return {row_id: (times, places) for row_id, times, places in cursor.fetchall()}

"""Bringing back what a query is about: what is found, and what that is linked with.

Three steps: search within the hours that the level of focus looks back; follow the links
of the best that were found; put both together, each memory once and whole.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memoryproject.errors import NotFound
from memoryproject.tenancy.models import Tenant
from retrieval import finding, memories, navigation, synthesis
from retrieval.memories import Whole
from retrieval.synthesis import Synthesis

EXPANDED = 5
"""Of what was found, the best whose links are followed."""
LINKED_AT_MOST = 100
"""Memories that links bring in: hubs have thousands of neighbours."""


@dataclass(frozen=True, slots=True)
class Focus:
    """How widely to look: memories to find, how far back, how many links to follow."""

    limit: int
    back: timedelta
    depth: int


LEVELS = (
    Focus(2, timedelta(hours=1), 0),
    Focus(5, timedelta(hours=4), 1),
    Focus(8, timedelta(hours=12), 1),
    Focus(10, timedelta(hours=24), 2),
    Focus(15, timedelta(hours=72), 3),
    Focus(20, timedelta(hours=168), 3),
)
"""By level, 0 to 5."""
USUAL_LEVEL = 3

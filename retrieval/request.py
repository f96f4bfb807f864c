"""What an agent asks of `retrieve_memory` and `context_pre_retrieve`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from retrieval.models import Retrieval

EPISODIC_LIMIT = 5
SEMANTIC_LIMIT = 20


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What an agent asks. `conversation_id` is the agent's own.

    `episodic_limit` None: five episodes, or with `max_tokens` as many as the budget holds.
    """

    query: str
    conversation_id: uuid.UUID
    kind: Retrieval.Kind
    episodic_limit: int | None = None
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    max_tokens: int | None = None
    as_of: datetime | None = None
    explain: bool = False
    min_seq: int | None = None
    fusion: Mapping[str, Any] | None = None
    """Numbers to use instead of the tenant's, by their names in `Fusion`."""
    fence: bool = False
    """Whether the text stands between marks that say it is data."""

    @property
    def is_plain(self) -> bool:
        """Whether the answer is the specification's markdown, which shows few messages."""
        return self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW

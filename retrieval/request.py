"""What an agent asks of `retrieve_memory` and `context_pre_retrieve`."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from memoryproject.text.cleaning import DEFANGED
from retrieval.models import Retrieval

EPISODIC_LIMIT = 5
SCOPES = CONVERSATION, USER, TENANT = "conversation", "user", "tenant"
"""Where to look: in the conversation, in all of its user's, or in all of the tenant's."""
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
    known_at: datetime | None = None
    explain: bool = False
    min_seq: int | None = None
    fusion: Mapping[str, Any] | None = None
    """Numbers to use instead of the tenant's, by their names in `Fusion`."""
    scope: str = CONVERSATION
    user_id: str | None = None
    """Whose conversations, with the scope `user`; None: whose the conversation is."""
    fence: bool = False
    """Whether the text stands between marks that say it is data."""
    links: str = DEFANGED
    """How the text prints links: `defanged` or `plain`."""
    whole: bool = False
    """Whether very long messages are shown whole, where no budget cuts them."""
    min_relevance: float = 0.0
    """An answer that is less relevant is empty."""

    @property
    def is_plain(self) -> bool:
        """Whether the search brings all that is shown: markdown shows few messages."""
        shows_few = self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW
        return shows_few and self.scope == CONVERSATION


NAMES = {item.name for item in fields(RecallRequest)} - {"query", "kind", "min_seq"}


def read_request(retrieval: Retrieval) -> RecallRequest:
    """Return what a receipt's question asked, to be answered once more as markdown.

    Without `min_seq`: what was new then is processed by now.
    """
    params = {name: value for name, value in retrieval.parameters.items() if name in NAMES}
    params["conversation_id"] = uuid.UUID(params["conversation_id"])
    for moment in ("as_of", "known_at"):
        if params.get(moment):
            params[moment] = datetime.fromisoformat(params[moment])
    is_raw = retrieval.kind == Retrieval.Kind.RETRIEVE_RAW
    kind = Retrieval.Kind.RETRIEVE if is_raw else Retrieval.Kind(retrieval.kind)
    return RecallRequest(query=retrieval.query, kind=kind, **params)

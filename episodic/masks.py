"""Whether titles and summaries load masked in this thread, for who may not read messages."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar

from memoryproject.process.scopes import holding

Mask = Callable[[str, uuid.UUID | None, str], str]
"""Returns what is shown of a text, given its conversation and the engine that wrote it."""

_mask: ContextVar[Mask | None] = ContextVar("memory_mask", default=None)


def masking(mask: Mask) -> AbstractContextManager[None]:
    """Load texts made of messages through a mask until the block ends."""
    return holding(_mask, mask)


def show_masked(text: str, conversation_id: uuid.UUID | None, engine: str) -> str:
    """Return a text that an engine made of a conversation, or its mask."""
    mask = _mask.get()
    return text if mask is None else mask(text, conversation_id, engine)

"""Tables of messages and episodes."""

from episodic.models.records import ErasedKey, Reveal, Review
from episodic.models.talk import (
    Conversation,
    Correctable,
    Correction,
    Episode,
    Message,
    Role,
    Withholding,
)

__all__ = [
    "Conversation", "Correctable", "Correction", "Episode", "ErasedKey", "Message", "Reveal",
    "Review", "Role", "Withholding",
]  # fmt: skip

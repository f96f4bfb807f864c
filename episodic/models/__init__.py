"""The tables of what was said and what happened."""

from episodic.models.records import ErasedKey, Reveal, Review
from episodic.models.talk import Conversation, Episode, Message, Role, Withholding

__all__ = [
    "Conversation", "Episode", "ErasedKey", "Message", "Reveal", "Review", "Role", "Withholding",
]  # fmt: skip

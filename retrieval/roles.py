"""Ranks what users say above what assistants reply, unless the question asks for replies.

An assistant's replies are long and repeat the words of the question they answer, so they would fill
any budget; later questions are mostly about what the user said.
"""

import re
from collections.abc import Iterable, Mapping

from episodic.models import Role
from memoryproject.process.tables import read_table
from retrieval import tuning
from retrieval.hits import MessageRow, Place

_TABLE = read_table(__file__)
ASKS_FOR_REPLY = re.compile("|".join(_TABLE["asks_for_reply"]), re.IGNORECASE)


def is_reply(message: MessageRow) -> bool:
    """Return whether an assistant wrote the message."""
    return message.role == Role.ASSISTANT


def asks_for_reply(question: str) -> bool:
    """Return whether a question is about what the assistant said."""
    return ASKS_FOR_REPLY.search(question) is not None


def holds_back_replies(messages: Iterable[MessageRow], *, question: str) -> bool:
    """Return whether users and assistants both speak, and the question is not about replies."""
    return {Role.USER, Role.ASSISTANT} <= {row.role for row in messages} and not asks_for_reply(
        question
    )


def prefer_users(
    weights: Mapping[Place, float], messages: Mapping[Place, MessageRow], *, question: str
) -> dict[Place, float]:
    """Return the scores of lines, with USER_PRIOR added for users.

    No bonus if only one side speaks, or the question is about replies.
    """
    if not holds_back_replies(messages.values(), question=question):
        return {**weights}
    return {
        place: weight + tuning.USER_PRIOR * (messages[place].role == Role.USER)
        for place, weight in weights.items()
    }

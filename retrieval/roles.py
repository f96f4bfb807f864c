"""Who says it counts: what users say goes before what assistants reply, unless that is asked for.

An assistant's replies are long and repeat the words of the question that they answer, so they
would fill any budget; what somebody wants to know later is mostly what the user said.
"""

import re
from collections.abc import Iterable, Mapping

from episodic.models import Role
from memoryproject.process.tables import read_table
from retrieval.hits import MessageRow, Place

USER_PRIOR = 4.0
"""For a line of a user where an assistant takes part: deviations from the mean line. Chosen on
half of BEAM's chats: docs/decisions/019-retrieval.md has the others that were tried."""
REPLY_SHARE = 0.15
"""Share of the budget for one reply that was not asked for."""

_TABLE = read_table(__file__)
ASKS_FOR_REPLY = re.compile("|".join(_TABLE["asks_for_reply"]), re.IGNORECASE)


def is_reply(message: MessageRow) -> bool:
    """Return whether an assistant said it."""
    return message.role == Role.ASSISTANT


def asks_for_reply(question: str) -> bool:
    """Return whether a question is about what the assistant said."""
    return ASKS_FOR_REPLY.search(question) is not None


def holds_back_replies(messages: Iterable[MessageRow], *, question: str) -> bool:
    """Return whether both users and assistants speak, and the question is not about replies."""
    return {Role.USER, Role.ASSISTANT} <= {row.role for row in messages} and not asks_for_reply(
        question
    )


def prefer_users(
    weights: Mapping[Place, float], messages: Mapping[Place, MessageRow], *, question: str
) -> dict[Place, float]:
    """Return the scores of lines with the prior of who said them.

    Where not both speak, or the question is about the replies, they stay.
    """
    if not holds_back_replies(messages.values(), question=question):
        return {**weights}
    return {
        place: weight + USER_PRIOR * (messages[place].role == Role.USER)
        for place, weight in weights.items()
    }

"""The assistant's side of Try it: one question to the language model."""

import json
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from episodic.models import Conversation
from jobs import spending
from jobs.direct_calls import DirectAsker
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt, find_room
from memoryproject.ai.replies import Reply
from memoryproject.edge import deadlines
from memoryproject.edge.errors import Unavailable
from memoryproject.tenancy import limits
from wings.ask.asking import translating_failures
from wings.ask.places import taking_place
from wings.console.transcript import ShownMessage

PROMPT = Path(__file__).parent / "prompts" / "chat.md"
LINES_AT_MOST = 20


class ChatReply(Reply):
    """What the assistant says next."""

    text: str


def ask_model(conversation: Conversation, memory: str, lines: Sequence[ShownMessage]) -> str:
    """Return the model's answer to the last line of a chat, by one call, from a memory's text.

    Raises:
        Problem: it gave none; the message says why.
    """
    tenant, room = conversation.tenant, find_room(file=PROMPT, reply=ChatReply)
    said = [f"{line.speaker}: {json.dumps(line.text, ensure_ascii=False)}" for line in lines]
    said = said[-LINES_AT_MOST:]
    while len(said) > 1 and count_prompt_tokens("\n".join([memory, *said])) > room:
        said = said[1:]
    material = "\n".join(["Memory:", memory, "Chat:", *said])
    limits.take(limits.question_allowances_of(tenant))
    deadlines.extend(settings.MODEL_TIMEOUT_S)
    asker = DirectAsker(tenant, scope=conversation.id, budget=spending.QUESTIONS)
    prompt = build_prompt(file=PROMPT, material=material, scope=asker.scope)
    try:
        with taking_place(tenant), translating_failures():
            return asker(prompt, ChatReply).text
    except ModelMisbehaved:
        raise Unavailable("The language model gave no answer of use; try again.") from None

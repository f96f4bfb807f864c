"""The flow that answers a question: retrieve, ask the model, check, at most one more round, answer.

No transaction stays open while the model is asked.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from django.conf import settings

from episodic.queries import Progress
from jobs import spending
from jobs.calls import ask_mended
from jobs.direct_calls import DirectAsker, OutOfPatience
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.ai.prompts import find_room, put_on_one_line
from memoryproject.edge.errors import Conflict, Problem, TooMany, Unavailable
from memoryproject.tenancy.reading import Reading
from memoryproject.text.cleaning import clean_alone
from retrieval.recall import Draft, recall
from retrieval.request import RecallRequest
from wings.ask.lines import Citation, Line, Lines, Reason, check_sentence, read_names
from wings.ask.replies import AskReply

PROMPT = Path(__file__).parent / "prompts" / "ask.md"
FURTHER_AT_MOST = 2
FURTHER_CHARACTERS = 200
"""Characters of one further question."""
SENTENCES_AT_MOST = 20
ROOM_SHARE = 0.7
"""Share of a prompt's room that is used: lines get numbers, and the model may count more."""
LEAST_TOKENS = 50
MIN_RELEVANCE, NOTHING_SERVED = "min_relevance", "nothing_served"
NOT_IN_MEMORY, ALL_STRUCK = "not_in_memory", "all_struck"
ABSTENTIONS = [MIN_RELEVANCE, NOTHING_SERVED, NOT_IN_MEMORY, ALL_STRUCK]
"""Reasons for no answer: too little relevance or nothing found (the model is not asked), the model
finds no answer, or no sentence has a valid citation."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence whose citations were checked."""

    text: str
    citations: list[Citation]


@dataclass(frozen=True, slots=True)
class Struck:
    """A sentence that was left out, and why."""

    text: str
    reason: Reason


@dataclass(slots=True)
class Answer:
    """An answer, what it was made from, and the number of questions to the model."""

    draft: Draft
    """What was served for the question."""
    progress: Progress
    asker: DirectAsker
    sentences: list[Sentence] = field(default_factory=list)
    struck: list[Struck] = field(default_factory=list)
    further: list[str] = field(default_factory=list)
    """Further questions that the model wants to look up."""
    further_draft: Draft | None = None
    """What was served for these."""

    @property
    def why(self) -> str | None:
        """Return why there is no answer; None if there is one."""
        if self.sentences:
            return None
        if self.struck:
            return ALL_STRUCK
        if self.asker.calls:
            return NOT_IN_MEMORY
        return MIN_RELEVANCE if self.draft.is_left_out else NOTHING_SERVED


def check_model() -> None:
    """Raise Conflict if there is no language model."""
    if settings.LLM == "offline":
        raise Conflict("No language model is set up: MEMORY_LLM names one, see docs/models.md.")


def ask(reading: Reading, request: RecallRequest, *, now: datetime) -> Answer:
    """Answer a question from what `retrieve_memory` would serve; each retrieval has a receipt.

    Raises:
        Conflict: the model has no price, and there is a budget.
        TooMany: a budget is used up for today.
        Unavailable: the model failed.
        Problem: the question is too long for the model.
    """
    asker = DirectAsker(
        reading.tenant,
        scope=request.conversation_id or reading.tenant.id,
        budget=spending.QUESTIONS,
    )
    with translating_failures():
        room = _find_room(request)
        request = replace(request, max_tokens=min(request.max_tokens or room, room))
        answer = Answer(*recall(reading, request, now=now), asker)
        lines = Lines()
        _ask_model(answer, request, lines, answer.draft)
        left = min(request.max_tokens or 0, room - answer.draft.receipt.tokens)
        if answer.further and left >= LEAST_TOKENS:
            wider = replace(request, looked_up=tuple(answer.further), max_tokens=left)
            with suppress(OutOfPatience, spending.BudgetSpent):
                answer.further_draft, _ = recall(reading, wider, now=now)
                _ask_model(answer, request, lines, answer.further_draft)
        return answer


def _find_room(request: RecallRequest) -> int:
    """Return the tokens of memories that fit into one prompt."""
    room = find_room(file=PROMPT, reply=AskReply) - count_prompt_tokens(request.joined)
    fitting = round(room * ROOM_SHARE)
    if fitting < LEAST_TOKENS:
        raise Problem("The question leaves no room in the model's context: make it shorter.")
    return fitting


def _ask_model(answer: Answer, request: RecallRequest, lines: Lines, draft: Draft) -> None:
    """Ask the model from all that was served, if the draft adds a line to it."""
    if not lines.add(draft.parts):
        return
    question = json.dumps(put_on_one_line(request.asked), ensure_ascii=False)
    reply = ask_mended(
        answer.asker,
        file=PROMPT,
        material=f"Question: {question}\n{lines.text}",
        reply=AskReply,
        check=lambda reply: reply,
    )
    if reply is None:
        raise Unavailable("The language model gave no answer of use; try again.")
    _check(answer, reply, request, lines.by_number)


def _check(answer: Answer, reply: AskReply, request: RecallRequest, lines: dict[int, Line]) -> None:
    """Keep the valid sentences, cleaned as all texts are, and list the others with reasons.

    If none is valid, earlier sentences stay.
    """
    valid, struck = list[Sentence](), list[Struck]()
    names = read_names(request.joined, lines.values())
    for said in reply.sentences[:SENTENCES_AT_MOST]:
        text = clean_alone(said.text, request.links).strip()
        citations, reason = check_sentence(
            text, said.cites, lines, names=names, links=request.links
        )
        if not text:
            continue
        if reason is None:
            valid.append(Sentence(text, citations))
        else:
            struck.append(Struck(text, reason))
    if valid or not answer.sentences:
        answer.sentences, answer.struck = valid, struck
    asked = set(request.questions)
    further = (" ".join(one.split())[:FURTHER_CHARACTERS] for one in reply.further)
    answer.further = [one for one in further if one and one not in asked][:FURTHER_AT_MOST]


@contextmanager
def translating_failures() -> Iterator[None]:
    """Turn errors of the model into errors of the API."""
    try:
        yield
    except spending.BudgetSpent as error:
        why = "Today's budget for the language model is used up."
        raise TooMany(why, retry_after_s=math.ceil(error.retry_after_s or 1)) from None
    except spending.PriceUnknown:
        why = "The model has no price, and there is a budget: MEMORY_PRICES gives it one."
        raise Conflict(why) from None
    except ModelUnavailable as error:
        why = "The language model does not answer; try again later."
        raise Unavailable(why, retry_after_s=math.ceil(error.retry_after_s or 5)) from None

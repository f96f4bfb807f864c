"""Asks a language model on behalf of a tenant: cached, recorded, within budget, checked.

An answered call is never paid for again: a job that crashed after the answer gets the same answer
when it runs again.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pydantic
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from jobs import claims, spending
from jobs.claims import Claim
from jobs.models import LLMCall
from memoryproject.ai import breaker, context, llm
from memoryproject.ai.answers import Completion
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import (
    AnswerCut,
    ModelMisbehaved,
    ModelUnavailable,
    OnlyThoughts,
    PromptTooLong,
    RequestRefused,
)
from memoryproject.ai.prompts import build_prompt
from memoryproject.edge import deadlines
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant

logger = logging.getLogger("memory.jobs")

Reply = TypeVar("Reply", bound=pydantic.BaseModel)
Checked = TypeVar("Checked")

PROBLEMS_NAMED = 5
FAILURES_WAITED_FOR = 12
"""Failures (about an hour of them) after which a job stops waiting, if others are answered."""
FAILURES_AT_ALL = 400
"""Failures of one job that is the only one to ask: three hours of attempts."""
MARGIN_S = 15
"""Seconds of a job's time kept for its work after the last question."""
LET_GO = "let go "
"""Prefix of the value stored in place of a question's hash whose answer must not be reused."""
REMINDER = "An earlier answer was of no use: {problem} Answer again, in the asked-for form."


class PromptCut(PromptTooLong):
    """The server read only a part of the question, and answered that."""

    may_have_cost = True


class OutOfTime(Exception):
    """The run has no time for another question; the next run reuses the answers so far."""


class Door(Protocol):
    """Function that asks the model one question; `scope` is the id of what it is about.

    `lines_at_most` is the number of messages in a question; None: no limit.
    """

    scope: str
    lines_at_most: int | None

    def __call__(self, prompt: Prompt, reply: type[Reply]) -> Reply: ...


class Asker:
    """Asks the model questions in the name of a claimed job.

    If the model has often failed this job but answers others, the job does not wait for it: the
    call counts as useless, and the offline engine takes over. An answer that arrives after the job
    was taken over is used but not stored: the question's text may have been erased.

    `lines_at_most`: the model did not answer longer questions in time. `scope` is the id of the
    conversation.
    """

    def __init__(self, claim: Claim) -> None:
        self.lines_at_most = claim.lines_at_most
        self.scope = str(claim.scope)
        self._claim = claim
        self._latest = (
            time.monotonic() + settings.JOB_TIMEOUT_S - settings.MODEL_TIMEOUT_S - MARGIN_S
        )
        self._has_asked = False

    def __call__(self, prompt: Prompt, reply: type[Reply]) -> Reply:
        """Return the model's answer as a `reply`, from the record if it was asked before.

        Raises:
            ModelUnavailable: try the whole job again later.
            OutOfTime: run the job again at once.
            ModelMisbehaved: the answer does not have the form of `reply`; the error's text says
                why, in our words.
        """
        digest = _digest(prompt, reply)
        calls = LLMCall.objects.of(self._claim.tenant)
        known = calls.filter(request_sha256=digest, ok=True).first()
        if known is not None:
            return _validate(known.response, reply)
        if self._is_hopeless():
            raise RequestRefused("The model fails at this question.")
        if self._has_asked and time.monotonic() > self._latest:
            raise OutOfTime
        self._has_asked = True
        try:
            answer = self._ask_model(prompt, reply, digest)
        except ModelUnavailable as error:
            error.lines = prompt.lines
            raise
        except PromptTooLong as error:
            # The next run puts smaller questions; an operator hears where none is small enough.
            with breaker.guard(breaker.find_chat_model()):
                shrink_context(prompt, to=error.limit)
            raise OutOfTime from None
        self._forgive()
        return answer

    def _is_hopeless(self) -> bool:
        """Return whether the model fails only at this job, or has failed for hours.

        Questions asked during an outage say nothing about the job: after it the job asks once more.
        """
        failures = self._claim.transient_failures
        if failures < FAILURES_WAITED_FOR or failures >= FAILURES_AT_ALL:
            return failures >= FAILURES_AT_ALL
        model = breaker.find_chat_model()
        if not breaker.is_closed(model):
            return False
        failed = LLMCall.objects.of(self._claim.tenant).filter(job=self._claim.id, ok=False)
        back_since = breaker.find_closing(model)
        return back_since is None or failed.filter(finished_at__gt=back_since).exists()

    def _forgive(self) -> None:
        """Reset the count of failures: the model has answered."""
        if self._claim.transient_failures:
            self._claim.transient_failures = 0
            claims.held(self._claim).update(transient_failures=0)

    def _ask_model(self, prompt: Prompt, reply: type[Reply], digest: str) -> Reply:
        with breaker.guard(breaker.find_chat_model(), scope=self._claim.scope):
            call = make_call(self._claim.tenant, prompt)
            call.job, call.request_sha256 = self._claim.id, digest
            spending.open_call(call)
            claims.expect(self._claim, settings.MODEL_TIMEOUT_S)
            return put_question(call, prompt, reply, self._claim)


def make_call(tenant: Tenant, prompt: Prompt) -> LLMCall:
    """Return the record of a question with its highest possible cost, not stored yet.

    Raises:
        ModelUnavailable: the server does not name its model.
    """
    sent, model = count_prompt_tokens(prompt.system + prompt.user), context.find_model()
    return LLMCall(
        tenant=tenant,
        purpose=prompt.purpose,
        prompt_version=prompt.version,
        model=model,
        ok=False,
        input_tokens=sent,
        estimated=True,
        left_out=prompt.left_out,
        cost=spending.find_cost(model, sent, context.find_answer_tokens()),
    )


def shrink_context(prompt: Prompt, *, to: int | None) -> None:
    """Record that the model's context is smaller than a prompt and its answer."""
    asked = count_prompt_tokens(prompt.system + prompt.user)
    context.shrink(to=to, asked=asked + context.find_answer_tokens())


def find_asker(claim: Claim) -> Asker | None:
    """Return the function with which a job asks a language model; None if there is none."""
    return Asker(claim) if settings.LLM != "offline" else None


def ask_mended(
    ask: Door,
    *,
    file: Path,
    material: str,
    reply: type[Reply],
    check: Callable[[Reply], Checked],
    find_doubt: Callable[[Reply], str] | None = None,
    rule: str = "",
    addition: str = "",
    **counts: int,
) -> Checked | None:
    """Ask, and once more, with the reason, if the answer is useless; None if that fails.

    `file` has the instructions, and its name is the purpose; `addition` is the operator's. `check`
    turns the reply into the result, or raises ModelMisbehaved with a text that quotes nobody; then
    `rule` is repeated in the second question. `counts` are the prompt's. A question that the
    provider refuses is not asked again. A text from `find_doubt` about a usable answer also leads
    to a second question; if that answer is useless, the first one counts.

    Raises:
        ModelUnavailable: the model could not be asked.
    """
    reminder, usable = "", None
    for is_last in (False, True):
        prompt = build_prompt(
            file=file,
            material=material,
            scope=ask.scope,
            reminder=reminder,
            addition=addition,
            **counts,
        )
        try:
            answer = ask(prompt, reply)
            usable = check(answer)
            problem = "" if is_last or find_doubt is None else find_doubt(answer)
        except RequestRefused:
            return usable
        except ModelMisbehaved as error:
            problem = str(error)
        if not problem:
            return usable
        reminder = f"{REMINDER.format(problem=problem)} {rule}".rstrip()
    return usable


def _digest(prompt: Prompt, reply: type[pydantic.BaseModel]) -> str:
    request = [
        settings.OPENAI_BASE_URL,
        settings.CHAT_MODEL or settings.LLM,
        prompt.purpose,
        prompt.version,
        prompt.system,
        prompt.user,
        reply.model_json_schema(),
    ]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def put_question(
    call: LLMCall,
    prompt: Prompt,
    reply: type[Reply],
    claim: Claim | None = None,
    *,
    timeout_s: float | None = None,
) -> Reply:
    """Ask a question that is on record already, and record the outcome.

    Without a claim the answer is not stored.
    """
    pass_point(Point.CALL_OPENED)
    started = time.monotonic()
    try:
        completion = llm.complete(prompt=prompt, schema=reply, timeout_s=timeout_s)
        _count(call, completion)
        if completion.read_at_most is not None:
            raise PromptCut("The server read a part.", limit=completion.read_at_most)
        answer = _read(completion, reply)
        # Fields that were not requested are dropped, as their content is unknown.
        call.ok, call.response = True, answer.model_dump(mode="json")
        return answer
    except (ModelUnavailable, ModelMisbehaved) as error:
        call.error_class = type(error).__name__
        if isinstance(error, ModelMisbehaved) and not isinstance(error, PromptTooLong):
            logger.warning("an answer to %s was of no use: %s", call.purpose, call.error_class)
        if not error.may_have_cost:
            call.input_tokens, call.estimated = 0, False
        raise
    finally:
        pass_point(Point.CALL_ANSWERED)
        call.latency_ms = round((time.monotonic() - started) * 1000)
        call.cost = spending.find_cost(call.model, call.input_tokens, call.output_tokens)
        _keep(call, claim)
        pass_point(Point.CALL_KEPT)


def _count(call: LLMCall, completion: Completion) -> None:
    """Record the tokens that the provider counted, or else our own count.

    Never more than was reserved: a higher count is wrong, or nobody allowed for it.
    """
    sent, written = completion.input_tokens, completion.output_tokens
    tokens = (
        call.input_tokens if sent is None else sent,
        count_prompt_tokens(completion.text) if written is None else written,
    )
    most = (call.input_tokens, context.find_answer_tokens())
    call.input_tokens, call.output_tokens = map(min, tokens, most)
    call.estimated = (call.input_tokens, call.output_tokens) != (sent, written)
    call.prompt_cut = completion.read_at_most is not None


def _read(completion: Completion, reply: type[Reply]) -> Reply:
    try:
        return _validate(llm.parse_object(completion.text), reply)
    except ModelMisbehaved:
        if completion.cut and not completion.text:
            raise OnlyThoughts("All of it was thoughts.") from None
        if completion.cut:
            raise AnswerCut("It was cut off before its end: keep it shorter.") from None
        raise


def _validate(answer: Any, reply: type[Reply]) -> Reply:
    try:
        return reply.model_validate(answer)
    except pydantic.ValidationError as error:
        # The error's own text quotes the answer, which quotes what people said: places
        # and what was expected there are ours.
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        named = (
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}."
            for problem in problems[:PROBLEMS_NAMED]
        )
        raise ModelMisbehaved(" ".join(named)) from None


def _keep(call: LLMCall, claim: Claim | None) -> None:
    """Record how the call ended, in the row that was stored before it began.

    The answer is not stored if the job was taken over meanwhile. An erasure locks the job's row
    first and then its calls, as this does, so it misses no answer.
    """
    call.finished_at = Now()
    try:
        with deadlines.outlasting(), transaction.atomic():
            if claim is None or not claims.holds(claim):
                call.request_sha256, call.response = f"{LET_GO}{call.id}", None
            row = LLMCall.objects.of(call.tenant).filter(id=call.id)
            if row.select_for_update(no_key=True).first() is not None:
                call.save(force_update=True)
    except IntegrityError:
        # Another run of the job got its answer first; both are of the same form.
        call.ok, call.response = False, None
        call.save(force_update=True)

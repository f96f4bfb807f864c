"""Asks a language model while a caller waits, outside any job."""

import time
import uuid

from django.conf import settings

from jobs import spending
from jobs.calls import LET_GO, Reply, make_call, put_question, shrink_context
from jobs.models import LLMCall
from memoryproject.ai import breaker
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import ModelUnavailable, PromptTooLong
from memoryproject.tenancy.models import Tenant

LEAST_S = 2.0
"""Seconds that must be left to ask another question."""


class OutOfPatience(ModelUnavailable):
    """The caller's time is over, which says nothing about the model."""


class DirectAsker:
    """Asks questions in the name of a waiting caller, as `calls.Asker` does for a job.

    Only costs are stored, neither questions nor answers: there is nothing to erase. `calls` are
    those made. `budget` names the tenant's budget that must allow them, besides the daily one.
    """

    lines_at_most: int | None = None

    def __init__(self, tenant: Tenant, *, scope: uuid.UUID, budget: str) -> None:
        self.scope = str(scope)
        self.calls: list[LLMCall] = []
        self._tenant = tenant
        self._budget = budget
        self._until: float | None = None
        """Time limit shared by all of its questions."""

    def __call__(self, prompt: Prompt, reply: type[Reply]) -> Reply:
        """Return the model's answer as a `reply`.

        Raises:
            ModelUnavailable: try again later; BudgetSpent and PriceUnknown among them.
            ModelMisbehaved: the answer is of no use.
        """
        is_first, now = self._until is None, time.monotonic()
        self._until = self._until or now + settings.MODEL_TIMEOUT_S
        left_s = self._until - now
        if left_s < LEAST_S and not is_first:
            raise OutOfPatience("There is no time left for another question.")
        try:
            # A tenant's timeouts count once, since its questions may be the cause.
            with breaker.guard(breaker.find_chat_model(), scope=self._tenant.id):
                return self._put(prompt, reply, left_s, is_first=is_first)
        except PromptTooLong as error:
            shrink_context(prompt, to=error.limit)
            raise

    def _put(self, prompt: Prompt, reply: type[Reply], left_s: float, *, is_first: bool) -> Reply:
        call = make_call(self._tenant, prompt)
        call.request_sha256 = f"{LET_GO}{call.id}"
        spending.open_call(call, own=self._budget)
        self.calls.append(call)
        try:
            return put_question(call, prompt, reply, timeout_s=left_s)
        except ModelUnavailable as error:
            if error.timed_out and not is_first:
                raise OutOfPatience("The caller's time is over.") from None
            raise

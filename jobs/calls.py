"""Asking a language model on behalf of a tenant: cached, recorded, checked.

A call that was answered once is never paid again: a job that crashed after the answer
gets the same answer when it runs anew.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from typing import Any, Protocol, TypeVar

import pydantic
from django.conf import settings
from django.db import IntegrityError, transaction

from jobs.models import LLMCall
from memoryproject.ai import llm
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.models import Tenant

Reply = TypeVar("Reply", bound=pydantic.BaseModel)


class Asker(Protocol):
    """What an engine holds to put questions with."""

    def __call__(self, prompt: llm.Prompt, reply: type[Reply]) -> Reply:
        """Return the model's answer as a `reply`.

        Raises:
            ModelUnavailable: try the whole job again later.
            ModelMisbehaved: the answer does not have the form of `reply`.
        """
        ...


def make_asker(*, tenant: Tenant, job_id: uuid.UUID) -> Asker:
    """Return a function that asks in the name of one job."""

    def ask(prompt: llm.Prompt, reply: type[Reply]) -> Reply:
        digest = _digest(prompt, reply)
        known = LLMCall.objects.of(tenant).filter(request_sha256=digest, ok=True).first()
        if known is not None:
            return _validate(known.response, reply)
        return _ask_model(tenant=tenant, job_id=job_id, prompt=prompt, reply=reply, digest=digest)

    return ask


def _digest(prompt: llm.Prompt, reply: type[pydantic.BaseModel]) -> str:
    request = [
        settings.OPENAI_BASE_URL,
        settings.CHAT_MODEL,
        prompt.purpose,
        prompt.version,
        prompt.system,
        prompt.user,
        reply.model_json_schema(),
    ]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _ask_model(
    *, tenant: Tenant, job_id: uuid.UUID, prompt: llm.Prompt, reply: type[Reply], digest: str
) -> Reply:
    record = LLMCall(
        tenant=tenant,
        job=job_id,
        request_sha256=digest,
        purpose=prompt.purpose,
        model=settings.CHAT_MODEL,
        ok=False,
    )
    started = time.monotonic()
    try:
        completion = llm.complete(prompt=prompt, schema=reply)
        record.input_tokens = completion.input_tokens or 0
        record.output_tokens = completion.output_tokens or 0
        answer = _validate(llm.parse_object(completion.text), reply)
        # What the form does not ask for is not kept: nobody knows what it is.
        record.ok, record.response = True, answer.model_dump(mode="json")
        return answer
    except (ModelUnavailable, ModelMisbehaved) as error:
        record.error_class = type(error).__name__
        raise
    finally:
        record.latency_ms = round((time.monotonic() - started) * 1000)
        _keep(record)


def _validate(answer: Any, reply: type[Reply]) -> Reply:
    try:
        return reply.model_validate(answer)
    except pydantic.ValidationError as error:
        # The error's text quotes the answer, which quotes what people said: drop it.
        raise ModelMisbehaved(
            f"The answer breaks the form in {error.error_count()} places."
        ) from None


def _keep(record: LLMCall) -> None:
    try:
        with transaction.atomic():
            record.save(force_insert=True)
    except IntegrityError:
        pass  # another run of the job got its answer first; both are of the same form

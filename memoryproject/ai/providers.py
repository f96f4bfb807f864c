"""The connection to an OpenAI-compatible provider, and what its failures mean."""

from __future__ import annotations  # evaluated, they would load what is late

import json
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from django.conf import settings

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, PromptTooLong
from memoryproject.ai.refusals import is_for_operators, read_refusal, says_too_long
from memoryproject.ai.transport import make_http_client

if TYPE_CHECKING:
    import openai
else:
    from memoryproject.ai.late import openai

CONNECT_TIMEOUT_S = 5.0
RETRY_AFTER_AT_MOST_S = 3600.0
"""No provider puts a job off for longer, whatever its header says."""
MENDED_BY_OTHERS = frozenset({401, 402, 403, 404, 408, 409, 425})
"""A wrong key, address or an empty account is mended by an operator: work waits for that."""


def make_client() -> openai.OpenAI:
    """Return a client with a timeout and no retries of its own: jobs decide when."""
    return openai.OpenAI(
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY or "none",
        timeout=make_timeout(settings.MODEL_TIMEOUT_S),
        max_retries=0,
        http_client=make_http_client(settings.OPENAI_BASE_URL),
    )


def make_timeout(seconds: float) -> openai.Timeout:
    """Return the client's timeout: for connecting, and for each silence of the server."""
    return openai.Timeout(seconds, connect=min(CONNECT_TIMEOUT_S, seconds))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn whatever fails between us and the provider into our errors.

    None of them carries what was sent or answered. Only the call and the reading of
    its body belong into the block: any other exception counts as the network's.
    """
    try:
        yield
    except (ModelUnavailable, ModelMisbehaved):
        raise
    except openai.APIStatusError as error:
        raise _translate_status(error) from None
    except (openai.APIResponseValidationError, UnicodeError) as error:
        raise ModelMisbehaved(type(error).__name__) from None
    except openai.APIConnectionError as error:
        reached = not isinstance(error.__cause__, httpx2.ConnectTimeout)
        waited = reached and isinstance(error, openai.APITimeoutError)
        raise ModelUnavailable(
            type(error).__name__, may_have_cost=waited, timed_out=waited
        ) from None
    except Exception as error:
        # The client leaves some of its transport's errors as they are, while it reads.
        waited = isinstance(error, httpx2.TimeoutException)
        raise ModelUnavailable(type(error).__name__, may_have_cost=True, timed_out=waited) from None


def read_body(parts: Iterable[bytes], *, at_most: int, until: float) -> dict[str, Any]:
    """Return a body that comes in parts: a JSON object of `at_most` bytes, there `until` then.

    `until` is on the monotonic clock: the client's own timeout counts each silence
    anew, so that a server which drips could hold us for ever.

    Raises:
        ModelUnavailable: it came too slowly, or is no JSON object: a proxy's page, a
            wrong address, or an error of the provider behind a status of 200.
        ModelMisbehaved: it is too long.
        PromptTooLong: the error behind a status of 200 says so.
    """
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > at_most:
            raise ModelMisbehaved(f"The answer is longer than {at_most} bytes.")
        if time.monotonic() > until:
            raise ModelUnavailable("The answer took too long.", may_have_cost=True, timed_out=True)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if says_too_long(answer):
        raise PromptTooLong("status 200")
    if not isinstance(answer, dict) or answer.get("error"):
        raise ModelUnavailable("The provider did not answer in its own form.")
    return answer


def _translate_status(error: openai.APIStatusError) -> ModelUnavailable | ModelMisbehaved:
    status = error.status_code
    if says_too_long(error.body):  # llama.cpp said so with a status of 500 for a while
        return PromptTooLong(f"status {status}")
    moved = 300 <= status < 400  # we do not follow, so the address must be set right
    passing = moved or status >= 500 or status == 429 or status in MENDED_BY_OTHERS
    if passing or is_for_operators(error.body):
        return ModelUnavailable(f"status {status}", retry_after_s=_retry_after(error))
    return read_refusal(error.body, status=status)


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds that the header asks for; a date in it is passed over."""
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        return None
    return min(seconds, RETRY_AFTER_AT_MOST_S)

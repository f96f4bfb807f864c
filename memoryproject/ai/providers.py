"""The connection to an OpenAI-compatible provider, and what its failures mean."""

import json
import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2
from django.conf import settings

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, PromptTooLong
from memoryproject.ai.refusals import is_for_operators, read_refusal, says_too_long
from memoryproject.ai.transport import JudgingTransport, find_proxy

CONNECT_TIMEOUT_S = 5.0
RETRY_AFTER_AT_MOST_S = 3600.0
"""No provider puts a job off for longer, whatever its header says."""
MENDED_BY_OTHERS = frozenset({401, 402, 403, 404, 408, 409, 425})
"""A wrong key, address or an empty account is mended by an operator: work waits for that."""
ERROR_BYTES_AT_MOST = 1024 * 1024
"""Of an answer that tells of an error."""


def make_client() -> httpx2.Client:
    """Return the connection to the endpoint; nothing is tried twice by itself: jobs decide when.

    Where the environment names a proxy for the endpoint, that one looks up and judges.
    """
    key = settings.OPENAI_API_KEY or "none"
    return httpx2.Client(
        transport=JudgingTransport(proxy=find_proxy(settings.OPENAI_BASE_URL)),
        follow_redirects=False,
        headers={"Accept-Encoding": "identity", "Authorization": f"Bearer {key}"},
        base_url=settings.OPENAI_BASE_URL,
    )


def make_timeout(seconds: float) -> httpx2.Timeout:
    """Return the client's timeout: for connecting, and for each silence of the server."""
    return httpx2.Timeout(seconds, connect=min(CONNECT_TIMEOUT_S, seconds))


def post(
    client: httpx2.Client, call: str, request: dict[str, Any], *, timeout_s: float, at_most: int
) -> dict[str, Any]:
    """Return what a call answers, a JSON object of `at_most` bytes that is there in time.

    No error carries what was sent or answered.

    Raises:
        ModelUnavailable, ModelMisbehaved: the network, a status or the body; see `read_body`.
    """
    until = time.monotonic() + timeout_s
    timeout = make_timeout(timeout_s)
    try:
        with client.stream("POST", call, json=request, timeout=timeout) as response:
            if response.status_code >= 300:
                whole = _read_error(response.iter_bytes(), until=until)
                body = _parse(whole) or whole.decode(errors="replace")
                raise _translate_status(response.status_code, body, response.headers)
            return read_body(response.iter_bytes(), at_most=at_most, until=until)
    except (ModelUnavailable, ModelMisbehaved):
        raise
    except UnicodeError as error:
        raise ModelMisbehaved(type(error).__name__) from None
    except Exception as error:
        reached = not isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
        waited = reached and isinstance(error, httpx2.TimeoutException)
        why = type(error).__name__
        raise ModelUnavailable(why, may_have_cost=reached, timed_out=waited) from None


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
    answer = _parse(body)
    if says_too_long(answer):
        raise PromptTooLong("status 200")
    if not isinstance(answer, dict) or answer.get("error"):
        raise ModelUnavailable("The provider did not answer in its own form.")
    return answer


def _read_error(parts: Iterable[bytes], *, until: float) -> bytearray:
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > ERROR_BYTES_AT_MOST or time.monotonic() > until:
            raise httpx2.ReadError("the answer that tells of an error does not end")
    return body


def _parse(body: bytearray) -> Any:
    """Return what a body says as JSON; None: nothing."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _translate_status(
    status: int, body: object, headers: Mapping[str, str]
) -> ModelUnavailable | ModelMisbehaved:
    if says_too_long(body):  # llama.cpp said so with a status of 500 for a while
        return PromptTooLong(f"status {status}")
    moved = 300 <= status < 400  # we do not follow, so the address must be set right
    passing = moved or status >= 500 or status == 429 or status in MENDED_BY_OTHERS
    if passing or is_for_operators(body):
        return ModelUnavailable(f"status {status}", retry_after_s=_retry_after(headers))
    return read_refusal(body, status=status)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the header asks for; a date in it is passed over."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, RETRY_AFTER_AT_MOST_S) if 0 <= seconds < math.inf else None

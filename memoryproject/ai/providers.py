"""The `openai` client of each configured endpoint, and the meaning of its errors.

The package takes half a second and 35 MB: if an endpoint is configured, it is loaded before
processes are forked, else by the first call. It retries nothing, since jobs decide when to retry,
and it uses our transport, which checks addresses, deadlines and sizes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx2
from django.conf import settings

from memoryproject.ai import refusals
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, OperatorFault
from memoryproject.ai.transport import AddressRefused, AnswerTooLong, JudgingTransport, find_proxy

if TYPE_CHECKING:
    import openai

Answer = TypeVar("Answer")

CONNECT_TIMEOUT_S = 5.0
MEGABYTE = 1024 * 1024


class Endpoint(NamedTuple):
    """A model server, and the settings with which an operator fixes a fault."""

    base_url: str
    key: str
    url_setting: str = "OPENAI_BASE_URL"
    key_setting: str = "OPENAI_API_KEY"
    model_setting: str = "MEMORY_CHAT_MODEL"
    bytes_at_most: int = MEGABYTE
    """Largest size of an answer in bytes."""


def find_chat_endpoint() -> Endpoint:
    return Endpoint(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)


def find_embedding_endpoint() -> Endpoint:
    """Return the endpoint for embeddings: its own, or the language model's."""
    url, key = settings.EMBEDDING_BASE_URL, settings.EMBEDDING_API_KEY
    own = "MEMORY_EMBEDDING_BASE_URL" if url != settings.OPENAI_BASE_URL else "OPENAI_BASE_URL"
    keyed = "MEMORY_EMBEDDING_API_KEY" if key != settings.OPENAI_API_KEY else "OPENAI_API_KEY"
    return Endpoint(url, key, own, keyed, "MEMORY_EMBEDDING_MODEL", 16 * MEGABYTE)


def preload() -> None:
    """Load the package if an endpoint is configured, so that forked processes share it."""
    if settings.LLM != "offline" or "openai" in {settings.EMBEDDINGS, settings.OLD_EMBEDDINGS}:
        for name in ("", ".resources.chat", ".resources.embeddings"):
            import_module(f"openai{name}")


@cache
def connect(endpoint: Endpoint) -> openai.OpenAI:
    """Return the client of an endpoint, one per process.

    If the environment names a proxy for the endpoint, the proxy resolves and checks names.
    """
    proxy, at_most = find_proxy(endpoint.base_url), endpoint.bytes_at_most
    transport = JudgingTransport(proxy=proxy, bytes_at_most=at_most)
    made: openai.OpenAI = import_module("openai").OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.key or "none",
        max_retries=0,
        http_client=httpx2.Client(
            transport=transport, follow_redirects=False, headers={"Accept-Encoding": "identity"}
        ),
    )
    return made


def ask(
    endpoint: Endpoint,
    call: Callable[[openai.OpenAI, httpx2.Timeout], Answer],
    *,
    timeout_s: float,
    extra: str = "",
) -> Answer:
    """Return the result of a call of the package, within `timeout_s`.

    `extra` are the names of the operator's extra parameters. No error contains text sent or
    received.

    Raises:
        ModelUnavailable: a network error or a temporary status; OperatorFault if it is permanent.
        ModelMisbehaved: the request was refused, or its answer is useless.
    """
    client = connect(endpoint)
    timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
    try:
        answer = call(client, timeout)
        fault = answer.get("error") if isinstance(answer, dict) else getattr(answer, "error", None)
    except (ModelUnavailable, ModelMisbehaved):
        raise
    except Exception as error:
        raise _translate(error, endpoint, extra) from None
    if isinstance(answer, str | None):  # a proxy's page, or another protocol
        raise ModelUnavailable("The provider did not answer in its own form.")
    if fault:
        code = fault.get("code") if isinstance(fault, dict) else None
        status = code if isinstance(code, int) else 200
        raise refusals.judge(status=status, body=fault, headers={}, endpoint=endpoint, extra=extra)
    return answer


def _translate(
    error: Exception, endpoint: Endpoint, extra: str
) -> ModelUnavailable | ModelMisbehaved:
    package: Any = import_module("openai")
    why = type(error).__name__
    if isinstance(error, package.APIStatusError):
        return refusals.judge(
            status=error.status_code,
            body=error.body,
            headers=error.response.headers,
            endpoint=endpoint,
            extra=extra,
        )
    cause = error.__cause__ or error
    if isinstance(cause, AnswerTooLong):
        return ModelMisbehaved("The answer is too long.")
    is_page = isinstance(error, json.JSONDecodeError)
    if isinstance(error, ValueError | TypeError | AttributeError) and not is_page:
        return ModelMisbehaved(why)  # the package cannot make sense of the answer
    if isinstance(cause.__cause__, AddressRefused):
        return OperatorFault(f"the address may not be asked, see {endpoint.url_setting}")
    reached = not isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout))
    waited = reached and isinstance(cause, httpx2.TimeoutException)
    return ModelUnavailable(why, may_have_cost=reached, timed_out=waited)


def forget() -> None:
    """Close all connections: forked processes must not inherit them, and settings may change."""
    if connect.cache_info().currsize:
        for endpoint in {find_chat_endpoint(), find_embedding_endpoint()}:
            connect(endpoint).close()
    connect.cache_clear()

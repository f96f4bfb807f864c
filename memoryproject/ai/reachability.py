"""Looks at the start whether the configured endpoint can be asked, in words for an operator."""

import httpx2
from django.conf import settings

from memoryproject.ai.breaker import find_provider
from memoryproject.ai.providers import make_client, make_timeout

HAS_NO_LIST = frozenset({400, 405, 501})
"""Statuses. With 404 the address may be mistyped as well."""


def find_problem(*, patience_s: float = 5.0) -> str:
    """Return what is wrong with the endpoint of MEMORY_LLM=openai; nothing where all seems well.

    Asks for its list of models, which costs nothing. Talks to the network, waits for no more
    than twice `patience_s`.
    """
    if settings.LLM != "openai":
        return ""
    client = make_client()
    try:
        with client.stream("GET", "models", timeout=make_timeout(patience_s)) as answer:
            answer.raise_for_status().read()
        names = {model["id"] for model in answer.json()["data"] or ()}
    except Exception as error:
        why = _explain(error, patience_s=patience_s)
    else:
        known = not names or settings.CHAT_MODEL in names
        why = "" if known else f"does not list the model {settings.CHAT_MODEL}"
    finally:
        client.close()
    if not why:
        return ""
    return (
        f"The language model's endpoint (OPENAI_BASE_URL, {find_provider()}) {why}. Messages are "
        "stored and answers given; episodes and facts wait for it."
    )


def _explain(error: Exception, *, patience_s: float) -> str:
    """Return in words what is wrong; nothing of a server that only has no such list."""
    if isinstance(error, httpx2.TimeoutException):
        return f"did not answer within {patience_s:.0f} s"
    if isinstance(error, httpx2.TransportError):
        return "cannot be reached"
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        return "" if status in HAS_NO_LIST else f"answers with status {status}"
    return "does not speak OpenAI's protocol"

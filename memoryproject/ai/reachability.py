"""Looks at the start whether the configured endpoint can be asked, in words for an operator."""

from __future__ import annotations  # evaluated, they would load what is late

from typing import TYPE_CHECKING

from django.conf import settings

from memoryproject.ai.breaker import find_provider
from memoryproject.ai.providers import make_client, make_timeout

if TYPE_CHECKING:
    import openai
else:
    from memoryproject.ai.late import openai

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
        names = {model.id for model in client.models.list(timeout=make_timeout(patience_s)).data}
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
    if isinstance(error, openai.APITimeoutError):
        return f"did not answer within {patience_s:.0f} s"
    if isinstance(error, openai.APIConnectionError):
        return "cannot be reached"
    if isinstance(error, openai.APIStatusError):
        has_no_list = error.status_code in HAS_NO_LIST
        return "" if has_no_list else f"answers with status {error.status_code}"
    return "does not speak OpenAI's protocol"

"""The connection to an OpenAI-compatible provider, and what its failures mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import openai
from django.conf import settings

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable

CONNECT_TIMEOUT_S = 5.0


def make_client() -> openai.OpenAI:
    """Return a client with a timeout and no retries of its own: jobs decide when."""
    return openai.OpenAI(
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY or "none",
        timeout=openai.Timeout(settings.MODEL_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        max_retries=0,
    )


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn the client's errors into ours; none carries what was sent or answered."""
    try:
        yield
    except openai.RateLimitError as error:
        raise ModelUnavailable("busy", retry_after_s=_retry_after(error)) from None
    except openai.APIStatusError as error:
        if error.status_code >= 500 or error.status_code in {401, 403, 404, 408, 409}:
            # A wrong key or address is mended by an operator: the work waits for that.
            raise ModelUnavailable(
                f"status {error.status_code}", retry_after_s=_retry_after(error)
            ) from None
        raise ModelMisbehaved(f"status {error.status_code}") from None
    except openai.APIConnectionError as error:
        raise ModelUnavailable(type(error).__name__) from None
    except (openai.APIError, ValueError) as error:
        raise ModelMisbehaved(type(error).__name__) from None


def _retry_after(error: openai.APIStatusError) -> float | None:
    text = error.response.headers.get("retry-after", "")
    return float(text) if text.isdigit() else None

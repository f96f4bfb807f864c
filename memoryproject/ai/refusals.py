"""What a provider's refusal says about our request.

Providers agree on the status and on little else: some name the parameter in a field of
its own, some only in their sentence, some not at all. That sentence may quote what people
said: it is searched here for names and figures of speech of ours, and goes no further.
"""

import re
from collections.abc import Iterator
from typing import Any

from memoryproject.ai.errors import ContentRefused, PromptTooLong, RequestRefused
from memoryproject.process.tables import read_table

RESPONSE_FORMAT = "response_format"
TEMPERATURE = "temperature"
MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"
SYSTEM_ROLE = "system role"
ENCODING_FORMAT = "encoding_format"
ANSWER_SIZE = "answer size"
"""The number of tokens asked for is too large, whatever its parameter is called."""

_FILE = read_table(__file__)
NAMES: dict[str, str] = _FILE["names"]
TOO_LONG = re.compile("|".join(_FILE["too_long"]))
TOO_LARGE_AN_ANSWER = re.compile("|".join(_FILE["too_large_an_answer"]))
TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
TOO_LONG_PARAMETERS = {"input_tokens", "prompt", "messages"}
OPERATORS_CODES = {"model_not_found", "invalid_api_key", "insufficient_quota"}
CONTENT_CODES = {"content_filter", "content_policy_violation", "invalid_prompt"}
CHARACTERS_AT_MOST = 4_000
"""Of a refusal's sentence: what it says about itself stands at the start."""


def read_refusal(body: object, *, status: int) -> RequestRefused:
    """Return the error for a refused request; `body` is what the provider sent, parsed."""
    error = _find_error(body)
    reason = f"status {status}"
    text = " ".join(_find_texts(error))[:CHARACTERS_AT_MOST].lower()
    if TOO_LARGE_AN_ANSWER.search(text):
        return RequestRefused(reason, blamed=frozenset({ANSWER_SIZE}))
    if status == 413 or says_too_long(body) or _is_about_length(error, text):
        return PromptTooLong(reason)
    if CONTENT_CODES & _find_codes(error):
        return ContentRefused(reason)
    return RequestRefused(reason, blamed=_find_blamed(error, text))


def says_too_long(body: object) -> bool:
    """Return whether a provider's error says by its code that the prompt was too long."""
    return bool(TOO_LONG_CODES & _find_codes(_find_error(body)))


def is_for_operators(body: object) -> bool:
    """Return whether an error says by its fields that the model, key or account is wrong."""
    error = _find_error(body)
    named = error.get("param") if isinstance(error, dict) else None
    return named == "model" or bool(OPERATORS_CODES & _find_codes(error))


def _find_error(body: object) -> object:
    """Return what stands under "error", with or without which providers send it."""
    return body.get("error", body) if isinstance(body, dict) else body


def _find_codes(error: object) -> set[str]:
    if not isinstance(error, dict):
        return set()
    return {str(error.get(key)).lower() for key in ("code", "type")}


def _is_about_length(error: object, text: str) -> bool:
    named = error.get("param") if isinstance(error, dict) else None
    if named is not None and named not in TOO_LONG_PARAMETERS:
        return False
    return TOO_LONG.search(text) is not None


def _find_blamed(error: object, text: str) -> frozenset[str]:
    """Return the parts named in the fields made for it, or else in the sentence."""
    fields = " ".join(_find_fields(error)).lower()
    return _match_names(fields) or _match_names(text)


def _match_names(text: str) -> frozenset[str]:
    return frozenset(part for part, name in NAMES.items() if re.search(rf"\b({name})", text))


def _find_fields(error: object) -> Iterator[str]:
    """Yield `param` of OpenAI's errors, and the places in FastAPI's list of them."""
    if not isinstance(error, dict):
        return
    if isinstance(error.get("param"), str):
        yield error["param"]
    details = error.get("detail")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(detail.get("loc"), list):
            yield ".".join(map(str, detail["loc"]))


def _find_texts(error: Any) -> Iterator[str]:
    if isinstance(error, str):
        yield error
    elif isinstance(error, dict):
        for key in ("message", "detail", "msg"):
            yield from _find_texts(error.get(key))
    elif isinstance(error, list):
        for item in error:
            yield from _find_texts(item)

"""Classifies a provider's errors: the operator's fault, the question's, or temporary.

Providers agree on statuses and little else: a wrong key is 401 for most and 400 for Gemini. Their
texts may quote people: they are searched here for known phrases, and not passed on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from memoryproject.ai.errors import (
    ContentRefused,
    ModelMisbehaved,
    ModelUnavailable,
    OperatorFault,
    PromptTooLong,
    RequestRefused,
)

if TYPE_CHECKING:
    from memoryproject.ai.providers import Endpoint

RESPONSE_FORMAT = "response_format"
TEMPERATURE = "temperature"
MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"
SYSTEM_ROLE = "system role"
ENCODING_FORMAT = "encoding_format"
DIMENSIONS = "dimensions"
ANSWER_SIZE = "answer size"
"""The requested number of answer tokens is too large, whatever the parameter is called."""
NAMES = {
    RESPONSE_FORMAT: r"response_?(format|schema)|json_?(schema|object|validate)|grammar|guided"
    r"|structured.?output|requested parameters",
    TEMPERATURE: r"temperature",
    MAX_TOKENS: r"max_?tokens",
    MAX_COMPLETION_TOKENS: r"max_?completion_?tokens",
    ENCODING_FORMAT: r"encoding_?format|base64|cannot unmarshal string",
    DIMENSIONS: r"dimensions|matryoshka",
    SYSTEM_ROLE: r"messages\W+0\W+role|system.?(role|message|prompt)",
}
TOO_LONG = re.compile(
    r"context.?(length|size|window)|maximum context|max_model_len|too long|too many tokens"
    r"|reduce the length|(input|prompt) length|token count|too large to process"
    r"|max_tokens must be at least 1, got -|exceed_context_size|string_above_max_length"
)
TOO_LARGE_AN_ANSWER = re.compile(
    r"max_(completion_|output_)?tokens\W.{0,60}?(too large|above maximum|exceeds|greater than"
    r"|valid range|less than)|supports at most \d+ completion tokens"
)
LIMIT = re.compile(
    r"(?:context (?:length|size|window)|n_ctx|maximum|allowed|limit)\D{0,30}?(\d{3,8})"
    r"|tokens > (\d{3,8})"
)
CONTENT = re.compile(r"content_filter|content_policy_violation|invalid_prompt")
CHARACTERS_AT_MOST = 4_000
"""Characters of an error's text that are read: its reason comes at the beginning."""
RETRY_AFTER_AT_MOST_S = 3600.0
"""Longest wait in seconds that a provider may ask for in a header."""
TRANSIENT = frozenset({408, 409, 425, 429})
MONEY = re.compile(
    r"insufficient_quota|credit balance|more credits|billing|payment|insufficient.?(funds|balance)"
)
KEY = re.compile(r"api.?key|invalid_api|unauthori[sz]ed|authentication|permission")
REGION = re.compile(r"unsupported_country|(country|region|territory|location).{0,30}not supported")
MODEL = re.compile(
    r"model.{0,80}?(not.{0,3}found|not exist|not a valid|not available)|no models? loaded"
    r"|model_not_found|not a valid model|deploymentnotfound|api deployment|unknown model"
)
MEMORY = re.compile(r"more system memory|out of memory|insufficient memory")
BROKEN = re.compile(r"has crashed|loading model")


def judge(
    *, status: int, body: object, headers: Mapping[str, str], endpoint: Endpoint, extra: str
) -> ModelUnavailable | ModelMisbehaved:
    """Return our error for one of a provider's.

    `body` is its parsed answer; `extra` are the names of the operator's extra parameters.
    """
    error = body.get("error", body) if isinstance(body, dict) else body
    text = _find_text(error)
    wait_s = _find_wait(headers)
    if (told := _find_operators_fault(status, error, text, endpoint, extra)) is not None:
        return OperatorFault(f"{status}: {told}", retry_after_s=wait_s)
    if TOO_LARGE_AN_ANSWER.search(text):
        return RequestRefused(f"status {status}", blamed=frozenset({ANSWER_SIZE}))
    if status == 413 or (_may_be_length(error) and TOO_LONG.search(text)):
        found = LIMIT.search(text)
        limit = int(found[1] or found[2]) if found else None
        return PromptTooLong(f"status {status}", limit=limit)
    blamed = _find_blamed(error, text)
    passing = status < 400 or status in TRANSIENT or BROKEN.search(text)
    # Some servers answer 500 if they cannot make a grammar from our schema.
    if passing or (status >= 500 and not blamed & {RESPONSE_FORMAT, ENCODING_FORMAT}):
        return ModelUnavailable(f"status {status}", retry_after_s=wait_s)
    if CONTENT.search(text):
        return ContentRefused(f"status {status}")
    return RequestRefused(f"status {status}", blamed=blamed)


def _find_operators_fault(
    status: int, error: object, text: str, endpoint: Endpoint, extra: str
) -> str | None:
    """Return what an operator has to do, or None if it is not the operator's fault."""
    named = error.get("param") if isinstance(error, dict) else None
    about_model = MODEL.search(text) or named == "model"
    if 300 <= status < 400:  # we do not follow
        return f"the address has moved, see {endpoint.url_setting}"
    if MEMORY.search(text):
        return f"the model does not fit into its server's memory, see {endpoint.model_setting}"
    if status >= 500 or status in TRANSIENT - {429} or status == 200:
        return None
    if status == 402 or MONEY.search(text) if status != 429 else "insufficient_quota" in text:
        return "the account is empty: add credit at the provider"
    if status == 429:
        return None
    if REGION.search(text):
        return "the provider does not serve this region"
    if about_model:
        return f"the model is not to be had there, see {endpoint.model_setting}"
    if status == 401 or KEY.search(text):
        return f"the key was refused, see {endpoint.key_setting}"
    if status == 403:
        return f"the key may not do this, see {endpoint.key_setting}"
    if status == 404 and not _find_blamed(error, text):
        return f"nothing is found there, see {endpoint.url_setting} and {endpoint.model_setting}"
    sent = extra.split()
    if any(key in text for key in sent) or ("reasoning_effort" in sent and "thinking" in text):
        return "what goes along with each question is refused, see MEMORY_CHAT_EXTRA"
    return None


def _find_text(error: object) -> str:
    """Return the text of an error in lower case: its message, and its machine-readable fields."""
    parts = list(_find_strings(error))
    return " ".join(parts)[:CHARACTERS_AT_MOST].lower()


def _find_strings(error: Any, key: str = "") -> Iterable[str]:
    if isinstance(error, dict):
        for name, value in error.items():
            if name not in {"failed_generation", "input", "details"}:
                yield from _find_strings(value, name)
    elif isinstance(error, list):
        for item in error:
            yield from _find_strings(item)
    elif isinstance(error, str | int):
        yield f"{key}={error}" if key in {"n_ctx", "code", "type"} else str(error)


def _may_be_length(error: object) -> bool:
    """Return whether an error about length may be about the prompt, by the field it names."""
    named = error.get("param") if isinstance(error, dict) else None
    return named in {None, "input_tokens", "prompt", "messages", "input"}


def _find_blamed(error: object, text: str) -> frozenset[str]:
    """Return the request's parts that an error names, in its fields or else its text."""
    fields = ""
    if isinstance(error, dict):
        details = error.get("detail")
        rows = details if isinstance(details, list) else []
        places = [row.get("loc") for row in rows if isinstance(row, dict)]
        fields = f"{error.get('param')} {json.dumps(places)}".lower()
    return _match_names(fields) or _match_names(text)


def _match_names(text: str) -> frozenset[str]:
    return frozenset(part for part, name in NAMES.items() if re.search(rf"\b({name})", text))


def _find_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the headers ask for; a date is ignored."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < math.inf:
            return min(seconds, RETRY_AFTER_AT_MOST_S)
    return None

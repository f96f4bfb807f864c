"""One question to a language model, answered in a given form."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import openai
from django.conf import settings
from pydantic import BaseModel

from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.providers import make_client, translate_errors


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to ask: `purpose` names the question, `version` the wording."""

    purpose: str
    version: str
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: `answer` is parsed JSON, not yet checked against the domain."""

    answer: dict[str, Any]
    model: str
    input_tokens: int
    output_tokens: int
    latency_ms: int


@cache
def _client() -> openai.OpenAI:
    return make_client()


def complete(*, prompt: Prompt, schema: type[BaseModel]) -> Completion:
    """Ask the configured model for an answer in the form of `schema`.

    Talks to the network; takes at most `MEMORY_MODEL_TIMEOUT_S`. Call it outside any
    transaction.

    Raises:
        ModelUnavailable: try again later.
        ModelMisbehaved: the answer is no JSON object; `schema` itself is not checked here.
    """
    started = time.monotonic()
    with translate_errors():
        answer = _client().chat.completions.create(
            model=settings.CHAT_MODEL,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": prompt.purpose,
                    "schema": strict_schema(schema),
                    "strict": True,
                },
            },
        )
    content = answer.choices[0].message.content if answer.choices else None
    usage = answer.usage
    return Completion(
        answer=parse_object(content or ""),
        model=settings.CHAT_MODEL,
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        latency_ms=round((time.monotonic() - started) * 1000),
    )


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object that `text` is, or that it wraps in prose or a code fence.

    Raises:
        ModelMisbehaved: there is none.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else None
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # so do lone surrogates
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "\\u0000" in text:
        raise ModelMisbehaved("The model's answer holds no JSON object.")
    return found


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema in the dialect of strict structured output.

    There every object forbids other properties and requires all of its own.
    """
    strict: dict[str, Any] = _make_strict(schema.model_json_schema())
    return strict


def _make_strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_make_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict = {
        key: _make_strict(value)
        for key, value in node.items()
        if key not in {"default", "title"} or isinstance(value, dict)
    }
    if strict.get("type") == "object" and "properties" in strict:
        strict["additionalProperties"] = False
        strict["required"] = list(strict["properties"])
    return strict

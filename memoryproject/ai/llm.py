"""One question to a language model, answered in a given form."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import openai
import pydantic
from django.conf import settings
from openai.types.chat.completion_create_params import ResponseFormat

from memoryproject.ai.errors import ModelMisbehaved, RequestRefused
from memoryproject.ai.providers import make_client, read_body, translate_errors

ANSWER_BYTES_AT_MOST = 1024 * 1024
MOST_TOKENS = 2**31 - 1
END_OF_THOUGHT = "</think>"
STARTS_AT_MOST = 200
"""Braces at which an object is looked for: prose seldom has more."""
AS_JSON = "\n\nAnswer with one JSON object and nothing else. It fits this JSON schema:\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to ask: `purpose` names the question, `version` the wording."""

    purpose: str
    version: str
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: `text` as the model wrote it, and what it cost (0: not told)."""

    text: str
    input_tokens: int
    output_tokens: int


@dataclass(slots=True)
class Channel:
    """The connection, and what this process has learnt about the server behind it."""

    client: openai.OpenAI
    takes_schema: bool = True


class Message(pydantic.BaseModel):
    """The part of a provider's answer that the model wrote."""

    content: str | None = None


class Choice(pydantic.BaseModel):
    """One of the answers that a provider may give at once."""

    message: Message


class Answer(pydantic.BaseModel):
    """A provider's answer, as far as we read it."""

    choices: list[Choice]
    usage: Any = None


@cache
def open_channel() -> Channel:
    """Return this process's connection."""
    return Channel(client=make_client())


def complete(*, prompt: Prompt, schema: type[pydantic.BaseModel]) -> Completion:
    """Ask the configured model for an answer in the form of `schema`.

    Talks to the network; takes at most `MEMORY_MODEL_TIMEOUT_S`, twice that the first
    time. Call it outside any transaction. A server that refuses a JSON schema is asked
    for any JSON object, with the schema in words, and so from then on.

    Raises:
        ModelUnavailable: try again later.
        ModelMisbehaved: there is no answer; whether it fits `schema` is not checked here.
    """
    channel = open_channel()
    form = strict_schema(schema)
    if channel.takes_schema:
        try:
            return _ask(channel, prompt, _schema_format(prompt.purpose, form))
        except RequestRefused:
            pass  # perhaps for the form's sake: the answer to the simpler one tells
    words = prompt.system + AS_JSON + json.dumps(form)
    plain = Prompt(prompt.purpose, prompt.version, system=words, user=prompt.user)
    completion = _ask(channel, plain, {"type": "json_object"})
    channel.takes_schema = False
    return completion


def _schema_format(name: str, form: dict[str, Any]) -> ResponseFormat:
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": form, "strict": True},
    }


def _ask(channel: Channel, prompt: Prompt, response_format: ResponseFormat) -> Completion:
    until = time.monotonic() + settings.MODEL_TIMEOUT_S
    with (
        translate_errors(),
        channel.client.chat.completions.with_streaming_response.create(
            model=settings.CHAT_MODEL,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            response_format=response_format,
        ) as response,
    ):
        body = read_body(response, at_most=ANSWER_BYTES_AT_MOST, until=until)
    return _read_answer(body)


def _read_answer(body: dict[str, Any]) -> Completion:
    try:
        answer = Answer.model_validate(body)
    except pydantic.ValidationError:
        raise ModelMisbehaved("The provider's answer lacks its choices.") from None
    usage = answer.usage if isinstance(answer.usage, dict) else {}
    return Completion(
        text=(answer.choices[0].message.content or "") if answer.choices else "",
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _count(tokens: object) -> int:
    return min(max(tokens, 0), MOST_TOKENS) if isinstance(tokens, int) else 0


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object that `text` is, or that it wraps in prose or a code fence.

    What a reasoning model thought aloud is passed over. Of several objects the longest
    is taken. All of it can be stored: no NaN, no NUL, no half of a surrogate pair.

    Raises:
        ModelMisbehaved: there is none.
    """
    _, _, spoken = text.rpartition(END_OF_THOUGHT)
    found = _find_longest(spoken) or _find_longest(text)
    if found is None or not _is_storable(found):
        raise ModelMisbehaved("The model's answer holds no JSON object.")
    return found


def _find_longest(text: str) -> dict[str, Any] | None:
    found = max(_find_objects(text), key=lambda pair: pair[0], default=None)
    return found[1] if found else None


def _find_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the outermost JSON objects in `text`, each after its length."""
    decoder = json.JSONDecoder(strict=False)  # small models break lines inside strings
    start = text.find("{")
    for _ in range(STARTS_AT_MOST):
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
            yield end - start, found
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _is_storable(found: dict[str, Any]) -> bool:
    try:
        written = json.dumps(found, ensure_ascii=False, allow_nan=False)
        written.encode()
    except (ValueError, RecursionError):
        return False
    return "\\u0000" not in written


def strict_schema(schema: type[pydantic.BaseModel]) -> dict[str, Any]:
    """Return the JSON schema in the dialect of strict structured output.

    There every object forbids other properties and requires all of its own.
    """
    strict = _make_strict(schema.model_json_schema())
    assert isinstance(strict, dict)
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

"""Reads an answer in any of the forms that OpenAI-compatible servers send.

The `openai` package turns everything a server sends into an object, unchecked: fields may be
missing, of another type, or unknown to the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoryproject.ai.errors import AnswerRefused, ModelMisbehaved, ModelUnavailable

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

MOST_TOKENS = 2**31 - 1
ENDED_TOO_EARLY = {"length", "max_tokens", "max_output_tokens", "model_length"}
THOUGHTS = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's text as it wrote it, and the token counts of the provider, or None.

    `cut`: the answer reached its limit and stops in the middle. `read_tokens` is the most that the
    server can have read of the prompt: `input_tokens` and cached tokens counted beside them. If it
    read less than it was sent, `read_at_most` is the limit.
    """

    text: str
    cut: bool
    input_tokens: int | None
    output_tokens: int | None
    read_tokens: int | None
    read_at_most: int | None = None


def read_answer(answer: ChatCompletion, *, answer_tokens: int | None) -> Completion:
    """Return the first answer with any text; `answer_tokens` is the limit that was sent.

    Raises:
        ModelMisbehaved: there is no list of answers; AnswerRefused: the model or a filter refuses
            to answer.
        ModelUnavailable: the provider says that its model failed.
    """
    choices: Any = answer.choices
    if not isinstance(choices, list) or any(isinstance(choice, int | str) for choice in choices):
        raise ModelMisbehaved("The provider's answer lacks its choices.")
    reasons = {str(_get(choice, "finish_reason")).lower() for choice in choices}
    if "error" in reasons or any(_get(choice, "error") for choice in choices):
        raise ModelUnavailable("The provider's model failed.", may_have_cost=True)
    read = [(_read_text(choice), _ended_too_early(choice)) for choice in choices]
    text, cut = next((pair for pair in read if pair[0]), read[0] if read else ("", False))
    refused = any(_get(choice, "message", "refusal") for choice in choices)
    if not text and (refused or "content_filter" in reasons):
        raise AnswerRefused("The model or a filter of its provider refused to answer.")
    usage = answer.usage if _is_object(answer.usage) else answer
    spent, sent = _read_output(usage), _read_input(usage)
    cached = _count(_get(usage, "prompt_tokens_details", "cached_tokens"))
    cached = cached or _count(_get(usage, "input_tokens_details", "cached_tokens")) or 0
    return Completion(
        text=text,
        # Some servers say "stop" although they reached the limit.
        cut=cut or (spent is not None and spent == answer_tokens),
        input_tokens=sent,
        output_tokens=spent,
        # Counted apart by some; by most as a part of the prompt.
        read_tokens=None if sent is None else sent + (cached if cached > sent else 0),
    )


def _is_object(value: object) -> bool:
    return value is not None and not isinstance(value, str | int | list)


def _get(value: Any, *names: str) -> Any:
    """Return the value at a path of names; None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value


def _ended_too_early(choice: object) -> bool:
    return str(_get(choice, "finish_reason")).lower() in ENDED_TOO_EARLY


def _read_text(choice: object) -> str:
    """Return the model's text, wherever the server put it; a refusal is no answer.

    Some servers return a whole answer in the requested form as a thought, or as the arguments of a
    tool. A thought that was cut off contains no answer.
    """
    message = _get(choice, "message")
    if not _is_object(message) or _get(message, "refusal"):
        return ""
    text = "".join(_find_parts(_get(message, "content"))).strip()
    if text:
        return text
    used = next((text for text in _find_arguments(message) if text), "")
    if used or _ended_too_early(choice):
        return used
    thoughts = (_get(message, name) for name in THOUGHTS)
    return next((text for text in thoughts if isinstance(text, str) and text), "")


def _find_parts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type") not in {"thinking", "reasoning"}:
            yield from _find_parts(part.get("text"))


def _find_arguments(message: object) -> Iterator[str]:
    calls = _get(message, "tool_calls")
    asked = [_get(call, "function") for call in calls] if isinstance(calls, list) else []
    for function in [*asked, _get(message, "function_call")]:
        arguments = _get(function, "arguments")
        if isinstance(arguments, str):
            yield arguments
        elif isinstance(arguments, dict):
            yield json.dumps(arguments)


def _read_input(usage: object) -> int | None:
    """Return the number of prompt tokens; None if there is no count, or it is 0."""
    count = _first_count(usage, "prompt_tokens", "prompt_eval_count")
    if count is not None:
        return count or None
    count = _count(_get(usage, "input_tokens"))
    if count is None:
        return None
    # Under this name, Anthropic's, cached tokens are counted apart.
    apart = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return min(count + sum(_count(_get(usage, name)) or 0 for name in apart), MOST_TOKENS) or None


def _read_output(usage: object) -> int | None:
    """Return the number of answer tokens, thoughts included.

    Some providers leave thoughts out of the answer's count, but not out of the total.
    """
    count = _first_count(usage, "completion_tokens", "output_tokens", "eval_count")
    read, total = _count(_get(usage, "prompt_tokens")), _count(_get(usage, "total_tokens"))
    if count is None or read is None or total is None:
        return count
    return max(count, total - read)


def _first_count(usage: object, *names: str) -> int | None:
    counts = (_count(_get(usage, name)) for name in names)
    return next((count for count in counts if count is not None), None)


def _count(tokens: object) -> int | None:
    """Return a token count that can be stored, or None."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        return None
    return min(tokens, MOST_TOKENS)

"""Reading an answer in any of the shapes that OpenAI-compatible servers give it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memoryproject.ai.errors import ModelMisbehaved

MOST_TOKENS = 2**31 - 1
ENDED_TOO_EARLY = {"length", "max_tokens", "max_output_tokens", "model_length"}
THOUGHTS = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: the model's text as it wrote it, and what the provider counted, or None.

    `cut` says that the answer reached its bound and stops in the middle; `prompt_cut` that the
    server seems to have read less than it was sent. `read_tokens` is the most of the prompt
    that it can have read: `input_tokens` and whatever it counts as cached beside them.
    """

    text: str
    cut: bool
    input_tokens: int | None
    output_tokens: int | None
    read_tokens: int | None
    prompt_cut: bool = False


def read_answer(body: dict[str, Any], *, answer_tokens: int | None) -> Completion:
    """Return the first answer that says anything; `answer_tokens` is the bound that was sent.

    Raises:
        ModelMisbehaved: there is no list of answers.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ModelMisbehaved("The provider's answer lacks its choices.")
    read = [(_read_text(choice), _ended_too_early(choice)) for choice in choices]
    text, cut = next((pair for pair in read if pair[0]), read[0] if read else ("", False))
    usage = body["usage"] if isinstance(body.get("usage"), dict) else body
    spent = _read_output(usage)
    # Some servers say "stop" where the bound has stopped them.
    cut = cut or (spent is not None and spent == answer_tokens)
    sent = _read_input(usage)
    return Completion(
        text=text,
        cut=cut,
        input_tokens=sent,
        output_tokens=spent,
        read_tokens=None if sent is None else sent + _read_cached(usage),
    )


def _ended_too_early(choice: dict[str, Any]) -> bool:
    return str(choice.get("finish_reason")).lower() in ENDED_TOO_EARLY


def _read_text(choice: dict[str, Any]) -> str:
    """Return what the model said, wherever the server put it; a refusal is no answer.

    Some servers take a whole answer in the asked-for form for a thought, or for the
    arguments of a tool. A thought that was cut off holds no answer.
    """
    message = choice.get("message")
    if not isinstance(message, dict) or message.get("refusal"):
        return ""
    text = "".join(_find_parts(message.get("content"))).strip()
    if text:
        return text
    used = next((text for text in _find_arguments(message) if text), "")
    if used or _ended_too_early(choice):
        return used
    return next((t for t in map(message.get, THOUGHTS) if isinstance(t, str) and t), "")


def _find_parts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type") not in {"thinking", "reasoning"}:
            yield from _find_parts(part.get("text"))


def _find_arguments(message: dict[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    asked = [call.get("function") for call in calls if isinstance(call, dict)]
    for function in [*asked, message.get("function_call")]:
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            yield arguments
        elif isinstance(arguments, dict):
            yield json.dumps(arguments)


def _read_input(usage: dict[str, Any]) -> int | None:
    """Return the tokens of the prompt; None where there is no count, or one of 0."""
    count = _first_count(usage, "prompt_tokens", "prompt_eval_count")
    if count is not None:
        return count or None
    count = _count(usage.get("input_tokens"))
    if count is None:
        return None
    # Under this name, Anthropic's, cached tokens are counted apart.
    apart = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return min(count + sum(_count(usage.get(name)) or 0 for name in apart), MOST_TOKENS) or None


def _read_output(usage: dict[str, Any]) -> int | None:
    """Return the tokens of the answer, thoughts included.

    Some providers leave those out of the answer's own count, but not out of the total.
    """
    count = _first_count(usage, "completion_tokens", "output_tokens", "eval_count")
    read = _count(usage.get("prompt_tokens"))
    total = _count(usage.get("total_tokens"))
    if count is None or read is None or total is None:
        return count
    return max(count, total - read)


def _read_cached(usage: dict[str, Any]) -> int:
    for name in ("prompt_tokens_details", "input_tokens_details"):
        details = usage.get(name)
        if isinstance(details, dict):
            return _count(details.get("cached_tokens")) or 0
    return 0


def _first_count(usage: dict[str, Any], *names: str) -> int | None:
    return next((count for name in names if (count := _count(usage.get(name))) is not None), None)


def _count(tokens: object) -> int | None:
    """Return a number of tokens that can be stored, None where it is not one."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        return None
    return min(tokens, MOST_TOKENS)

"""Finds out how much the language model reads at once, from its server or its answers.

Some servers refuse prompts that are too long. Others, mainly Ollama, silently read only as much as
fits; then they report fewer tokens than were sent. The size found is used for an hour, by all
processes, to make questions smaller.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings

from memoryproject.ai import breaker, providers
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, OperatorFault

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

LOOK_EVERY_S = 3600.0
LOOK_TIMEOUT_S = 5.0
ANSWER_SHARE = 4
"""The answer gets a quarter of a context that is smaller than the settings say."""
CUT_BELOW = 0.9
"""Share of the sent tokens that a server must report as read; below it, the prompt was cut."""
READ_AT_LEAST = 1_000
"""Tokens that every server reads; one that reports fewer counts something else."""
SAMPLE_CHARACTERS = 4_000
"""Characters of a prompt, in three parts: some thousand tokens, which any server reads."""
LEAST_CONTEXT = 2_000
"""Tokens of the smallest usable context: it must hold the instructions and a question."""
EMBEDS = ("embed", "bge-", "minilm", "rerank", "whisper")
"""Parts of the names of embedding models, which answer no question."""

logger = logging.getLogger("memory.ai")


@dataclass(slots=True)
class Reader:
    """How this process's model counts and reads; `ratio`: its tokens for one of ours."""

    looked_at: float = -LOOK_EVERY_S
    ratio: float | None = None
    counts_cached: bool = False
    """Whether its count includes tokens cached from the question before."""
    context_tokens: int | None = None
    first_model: str = ""
    listed_at: float = 0.0


@cache
def open_reader() -> Reader:
    return Reader()


def forget() -> None:
    open_reader.cache_clear()


def find_model() -> str:
    """Return the configured model's name, or the first one that its server lists.

    Raises:
        ModelUnavailable: the server has none, or cannot be asked.
    """
    reader = open_reader()
    if settings.CHAT_MODEL:
        return str(settings.CHAT_MODEL)
    if not reader.first_model or time.monotonic() - reader.listed_at > LOOK_EVERY_S:
        reader.first_model, reader.listed_at = _find_first_model(), time.monotonic()
    return reader.first_model


def _find_first_model() -> str:
    endpoint = providers.find_chat_endpoint()
    listed = providers.ask(
        endpoint,
        lambda client, timeout: client.models.list(timeout=timeout),
        timeout_s=LOOK_TIMEOUT_S,
    )
    names = [str(model.id) for model in listed.data or ()]
    name = next((name for name in names if not any(part in name.lower() for part in EMBEDS)), None)
    if name is None:
        raise OperatorFault(
            "the server has no model yet, see docs/models.md (Ollama: ollama pull qwen3:8b)"
        )
    return name


def ask_chat(request: dict[str, Any], *, timeout_s: float) -> ChatCompletion:
    """Ask one question, with the operator's extra parameters; raises as `providers.ask`."""
    extra: dict[str, Any] = settings.CHAT_EXTRA
    sent = [name for part in extra.values() if isinstance(part, dict) for name in part]
    answer: ChatCompletion = providers.ask(
        providers.find_chat_endpoint(),
        lambda client, timeout: client.chat.completions.create(
            model=find_model(), timeout=timeout, **request, **extra
        ),
        timeout_s=timeout_s,
        extra=" ".join([*sent, *(extra.keys() & {"reasoning_effort"})]),
    )
    return answer


def ask_for_token(text: str = "Hello", *, timeout_s: float) -> ChatCompletion:
    """Ask for one token: the server loads the model, and counts the prompt."""
    messages = [{"role": "user", "content": text}]
    return ask_chat({"messages": messages, "max_tokens": 1}, timeout_s=timeout_s)


def find_context() -> int:
    """Return how many tokens the model takes, question and answer together.

    Asks its server once an hour, which may load the model for it.
    """
    reader = open_reader()
    if time.monotonic() - reader.looked_at > LOOK_EVERY_S:
        reader.looked_at, reader.ratio = time.monotonic(), None
        reader.context_tokens = None
        with suppress(ModelUnavailable, ModelMisbehaved):
            found = _ask_server() or breaker.find_limits().context_tokens
            _keep(found)
    known = reader.context_tokens
    return min(settings.CHAT_CONTEXT_TOKENS, known) if known else settings.CHAT_CONTEXT_TOKENS


def find_answer_tokens() -> int:
    """Return the longest answer in tokens: a share of the context if that is small."""
    at_most: int = settings.CHAT_ANSWER_TOKENS
    known = open_reader().context_tokens
    return min(at_most, known // ANSWER_SHARE) if known else at_most


def _keep(found: int | None) -> None:
    open_reader().context_tokens = found
    if found:
        breaker.keep_limits(context_tokens=found)


def shrink(*, to: int | None, asked: int) -> None:
    """Store that the model read `to` tokens of a question with `asked`, or refused it (None).

    Raises:
        OperatorFault: it is too small for any question.
    """
    before = find_context()
    found = to if to and to < 0.95 * before else round(0.7 * min(before, asked))
    if found < LEAST_CONTEXT:
        raise OperatorFault(
            f"{find_model()} reads {to or before} tokens at once, which are too few to be asked:"
            " give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH=16384)"
        )
    _keep(found)
    logger.warning(
        "%s reads about %d tokens at once, not %d: questions are put in smaller parts; give it a"
        " larger context (Ollama: OLLAMA_CONTEXT_LENGTH), or lower MEMORY_CHAT_CONTEXT_TOKENS",
        find_model(),
        found,
        before,
    )


# ---- what servers say of themselves


def _ask_server() -> int | None:
    """Return the context that the server reports for the model, or None.

    OpenAI's own protocol has no field for it.
    """
    if urlsplit(settings.OPENAI_BASE_URL).scheme == "https" and not settings.LLM_IS_LOCAL:
        return None  # a provider's: it refuses what is too long
    name = find_model()
    ollama = _get("../api/ps")
    if isinstance(ollama, dict) and isinstance(ollama.get("models"), list):
        if not any(_is_named(row, name) for row in ollama["models"]):
            _load_model()
            ollama = _get("../api/ps")
        return _find_number(ollama, name, "models", "context_length")
    props = _get("../props")
    if isinstance(props, dict) and isinstance(props.get("default_generation_settings"), dict):
        return _to_tokens(props["default_generation_settings"].get("n_ctx"))
    return _find_number(_get("../api/v0/models"), name, "data", "loaded_context_length") or (
        _find_number(_get("models"), name, "data", "max_model_len", "context_length")
    )


def _get(path: str) -> Any:
    """Return the JSON at a path beside the endpoint's own; None if there is none."""
    base = settings.OPENAI_BASE_URL.rstrip("/")
    root = base.removesuffix("/v1") if path.startswith("../") else base
    with suppress(ModelUnavailable, ModelMisbehaved):
        return providers.ask(
            providers.find_chat_endpoint(),
            lambda client, timeout: client.get(
                f"{root}/{path.removeprefix('../')}", cast_to=object, options={"timeout": timeout}
            ),
            timeout_s=LOOK_TIMEOUT_S,
        )
    return None


def _load_model() -> None:
    """Ask for one token, which loads the model, however long that takes."""
    ask_for_token(timeout_s=min(2 * settings.MODEL_TIMEOUT_S, settings.JOB_TIMEOUT_S - 30))


def _is_named(row: Any, name: str) -> bool:
    names = {row.get("id"), row.get("name"), row.get("model")} if isinstance(row, dict) else set()
    return bool(names & {name, f"{name}:latest"})


def _find_number(answer: Any, name: str, rows: str, *fields: str) -> int | None:
    listed = answer.get(rows) if isinstance(answer, dict) else None
    for row in listed if isinstance(listed, list) else ():
        if _is_named(row, name):
            return next((n for n in (_to_tokens(row.get(f)) for f in fields) if n), None)
    return None


def _to_tokens(value: object) -> int | None:
    return value if isinstance(value, int) and READ_AT_LEAST <= value < 2**31 else None


# ---- what its answers tell


def find_cut(prompt: Prompt, *, read_tokens: int | None) -> int | None:
    """Return how much the server reads at most, if it read less than 90 % of a question.

    Our counter and the model's differ by more than that, so the model counts a part of the question
    that any server reads completely, once an hour or if something seems cut.
    """
    text = prompt.system + prompt.user
    if read_tokens is None or read_tokens < READ_AT_LEAST:
        return None
    reader = open_reader()
    sent = count_prompt_tokens(text)
    if read_tokens >= CUT_BELOW * sent * (reader.ratio or 1.0):
        return None
    with suppress(ModelUnavailable, ModelMisbehaved):
        reader.counts_cached, ratio = _measure(text)
        # Tokens that count as read: all, or only those not cached by the server.
        whole = ratio * (sent if reader.counts_cached else count_prompt_tokens(prompt.user))
        if read_tokens < CUT_BELOW * whole:
            return read_tokens
        reader.ratio = min(ratio, reader.ratio or ratio)
    return None


def _measure(text: str) -> tuple[bool, float]:
    """Return whether the server counts cached tokens, and its tokens for one of ours."""
    third = SAMPLE_CHARACTERS // 3
    middle = len(text) // 2
    sample = text[:third] + text[middle : middle + third] + text[-third:]
    counts = list(_count_twice(sample))
    return counts[1] >= CUT_BELOW * counts[0], counts[0] / count_prompt_tokens(sample)


def _count_twice(sample: str) -> Iterator[int]:
    for _ in range(2):
        answer = ask_for_token(sample, timeout_s=settings.MODEL_TIMEOUT_S)
        count = answer.usage.prompt_tokens if answer.usage else None
        if not isinstance(count, int) or count <= 0:
            raise ModelMisbehaved("The server counts no tokens.")
        yield count

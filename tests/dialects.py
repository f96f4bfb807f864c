"""Servers that speak OpenAI's protocol each in a way of their own.

A dialect says what a server refuses and how, and in what shape it answers. The bodies are
those that the servers are known to send, shortened.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.model_server import Asked, Reply, sends

SIZES = {"max_tokens", "max_completion_tokens"}
EVERYTHING = {"model", "messages", "response_format", "temperature", *SIZES}
READ, WRITTEN = 200, 70
"""The tokens that each server counts, each under names of its own."""

Refuse = Callable[[dict[str, Any]], Reply | None]
Answer = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Dialect:
    """A kind of server.

    `learning` is how many requests the first question takes, `learnt` which parameters
    are sent from then on, `form` the kind of `response_format` among them.
    """

    name: str
    refuse: Refuse
    answer: Answer
    learning: int = 1
    learnt: frozenset[str] = frozenset(EVERYTHING - {"max_completion_tokens"})
    form: str | None = "json_schema"
    roles: tuple[str, ...] = ("system", "user")

    def gate(self, asked: Asked) -> Reply | None:
        return self.refuse(asked.body)

    def says(self, answer: Any) -> Reply:
        return sends(self.answer(json.dumps(answer)))


def form_of(body: dict[str, Any]) -> str | None:
    wanted = body.get("response_format")
    return str(wanted["type"]) if wanted else None


def completion(message: dict[str, Any], *, usage: Any, **more: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "finish_reason": "stop",
        "logprobs": None,
    }
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**body, "choices": [choice], "usage": usage, **more}


def openai_error(message: str, *, param: str | None, code: Any) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return sends({"error": error}, status=400)


def takes_all(body: dict[str, Any]) -> Reply | None:
    return None


# ---- OpenAI


def openai_chat(body: dict[str, Any]) -> Reply | None:
    if body.keys() >= SIZES:
        text = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        return openai_error(text, param="max_tokens", code="invalid_parameter_combination")
    return None


def openai_reasoning(body: dict[str, Any]) -> Reply | None:
    if "max_tokens" in body:
        text = (
            "Unsupported parameter: 'max_tokens' is not supported with this model."
            " Use 'max_completion_tokens' instead."
        )
        return openai_error(text, param="max_tokens", code="unsupported_parameter")
    if body.get("temperature", 1) != 1:
        text = (
            "Unsupported value: 'temperature' does not support 0 with this model."
            " Only the default (1) value is supported."
        )
        return openai_error(text, param="temperature", code="unsupported_value")
    return None


def openai_usage(*, thoughts: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": READ,
        "completion_tokens": WRITTEN,
        "total_tokens": READ + WRITTEN,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thoughts, "audio_tokens": 0},
    }


def openai_answer(text: str) -> dict[str, Any]:
    message = {"content": text, "refusal": None, "annotations": []}
    return completion(message, usage=openai_usage(thoughts=20), service_tier="default")


# ---- Ollama: takes everything, passes over max_completion_tokens, counts without details


def ollama_answer(text: str) -> dict[str, Any]:
    usage = {
        "prompt_tokens": READ,
        "completion_tokens": WRITTEN,
        "total_tokens": READ + WRITTEN,
    }
    message = {"content": text, "reasoning": 'Should it be {"episodes": []}? No.'}
    return completion(message, usage=usage, system_fingerprint="fp_ollama")


# ---- vLLM


def vllm_error(message: str) -> Reply:
    error = {"object": "error", "message": message, "type": "BadRequestError"}
    return sends({**error, "param": None, "code": 400}, status=400)


def old_vllm(body: dict[str, Any]) -> Reply | None:
    """The one without schemas or the newer name: it forbids what it does not know."""
    if form_of(body) == "json_schema":
        return vllm_error(
            "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'),"
            " 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]"
        )
    if "max_completion_tokens" in body:
        return vllm_error(
            "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'),"
            " 'msg': 'Extra inputs are not permitted', 'input': 8192}]"
        )
    return None


def vllm_usage() -> dict[str, Any]:
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
    return {**usage, "prompt_tokens_details": None}


def vllm_answer(text: str) -> dict[str, Any]:
    message = {"content": text, "reasoning_content": None, "tool_calls": []}
    return completion(message, usage=vllm_usage(), prompt_logprobs=None)


def thinking_vllm_answer(text: str) -> dict[str, Any]:
    """A reasoning parser that takes the whole answer for a thought."""
    message = {"content": None, "reasoning_content": text, "tool_calls": []}
    return completion(message, usage=vllm_usage())


# ---- llama.cpp


def old_llama_cpp(body: dict[str, Any]) -> Reply | None:
    if form_of(body) == "json_schema":
        text = 'Either "json_schema" or "grammar" can be specified, but not both'
        error = {"code": 400, "message": text, "type": "invalid_request_error"}
        return sends({"error": error}, status=400)
    return None


def llama_cpp_answer(text: str) -> dict[str, Any]:
    usage = {
        "completion_tokens": WRITTEN,
        "prompt_tokens": READ,
        "total_tokens": READ + WRITTEN,
        "prompt_tokens_details": {"cached_tokens": READ - 1},
    }
    timings = {"cache_n": READ - 1, "prompt_n": 1, "predicted_n": WRITTEN}
    message = {"content": f"<think>Hm, {{}}.</think>{text}"}
    return completion(message, usage=usage, timings=timings)


# ---- others


def lm_studio(body: dict[str, Any]) -> Reply | None:
    if form_of(body) == "json_object":
        return sends(
            {"error": "'response_format.type' must be 'json_schema' or 'text'"}, status=400
        )
    return None


def lm_studio_answer(text: str) -> dict[str, Any]:
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
    return completion({"content": text, "tool_calls": []}, usage=usage, stats={})


def strict_proxy(body: dict[str, Any]) -> Reply | None:
    """FastAPI: every field that is too many, in one list."""
    extra = sorted(body.keys() - {"model", "messages"})
    detail = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs", "input": "…"}
        for name in extra
    ]
    return sends({"detail": detail}, status=422) if extra else None


def pedantic_proxy(body: dict[str, Any]) -> Reply | None:
    """Takes hardly anything, and names one thing at a time."""
    if "temperature" in body:
        return openai_error("Unsupported", param="temperature", code="unsupported_parameter")
    for name in sorted(SIZES & body.keys()):
        return openai_error("Unsupported", param=name, code="unsupported_parameter")
    if "response_format" in body:
        return openai_error("Unsupported", param="response_format.type", code=None)
    if body["messages"][0]["role"] == "system":
        return openai_error("Unsupported", param="messages[0].role", code="unsupported_value")
    return None


def terse_proxy(body: dict[str, Any]) -> Reply | None:
    """Knows only model and messages, and says no more than no."""
    return sends({"error": "bad request"}, status=400) if body.keys() - BARE else None


def anthropic_usage_answer(text: str) -> dict[str, Any]:
    usage = {
        "input_tokens": READ - 150,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 50,
        "output_tokens": WRITTEN,
    }
    parts = [{"type": "thinking", "text": "Hm, {}."}, {"type": "text", "text": text}]
    return completion({"content": parts}, usage=usage)


def no_system_role(body: dict[str, Any]) -> Reply | None:
    """A chat template without one, as Gemma's."""
    if body["messages"][0]["role"] == "system":
        return vllm_error("System role not supported")
    return None


def gemini_answer(text: str) -> dict[str, Any]:
    """The thoughts are counted in the total only."""
    usage = {"prompt_tokens": READ, "completion_tokens": 10, "total_tokens": READ + WRITTEN}
    return completion({"content": text}, usage=usage)


BARE = frozenset({"model", "messages"})
WITHOUT_TEMPERATURE = frozenset({"model", "messages", "response_format", "max_completion_tokens"})

DIALECTS = [
    Dialect("openai", openai_chat, openai_answer),
    Dialect(
        "openai-reasoning", openai_reasoning, openai_answer, learning=3, learnt=WITHOUT_TEMPERATURE
    ),
    Dialect("ollama", takes_all, ollama_answer),
    Dialect("vllm", takes_all, vllm_answer),
    Dialect("vllm-reasoning", takes_all, thinking_vllm_answer),
    Dialect("vllm-old", old_vllm, vllm_answer, learning=2, form="json_object"),
    Dialect("llama.cpp", takes_all, llama_cpp_answer),
    Dialect("llama.cpp-old", old_llama_cpp, llama_cpp_answer, learning=2, form="json_object"),
    Dialect("lm-studio", lm_studio, lm_studio_answer),
    Dialect("gemini", takes_all, gemini_answer),
    Dialect("no-system-role", no_system_role, vllm_answer, learning=2, roles=("user",)),
    Dialect(
        "strict-proxy", strict_proxy, anthropic_usage_answer, learning=3, learnt=BARE, form=None
    ),
    Dialect(
        "pedantic-proxy",
        pedantic_proxy,
        vllm_answer,
        learning=7,
        learnt=BARE,
        form=None,
        roles=("user",),
    ),
    Dialect(
        "terse-proxy",
        terse_proxy,
        openai_answer,
        learning=5,
        learnt=BARE,
        form=None,
        roles=("user",),
    ),
]

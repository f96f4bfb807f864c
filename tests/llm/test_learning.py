"""What is learnt from a server's refusals, and how few requests that takes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pydantic
import pytest
from pytest_django import Settings

from memoryproject.ai import llm
from memoryproject.ai.answers import Completion
from memoryproject.ai.errors import (
    ContentRefused,
    ModelMisbehaved,
    ModelUnavailable,
    OperatorFault,
    PromptTooLong,
    RequestRefused,
)
from memoryproject.ai.llm import FRUITLESS_AT_MOST, LEARNT_FOR_S, Prompt, complete
from tests.dialects import form_of, openai_error, takes_all, terse_proxy, vllm_error
from tests.model_server import Asked, ModelServer, Reply, fails, says, sends


class Colour(pydantic.BaseModel):
    colour: str


SECRET = "the tulips are for Oduya"
GREEN = says({"colour": "green"})
LENGTHS: dict[str, Reply] = {
    "openai": openai_error(
        f"This model's maximum context length is 4097 tokens. Your messages: {SECRET}",
        param="messages",
        code="context_length_exceeded",
    ),
    "vllm": vllm_error(
        "This model's maximum context length is 8192 tokens. However, you requested"
    ),
    "older vllm": vllm_error("max_tokens must be at least 1, got -186."),
    "newer vllm": openai_error("The prompt is too long.", param="input_tokens", code=400),
    "llama.cpp": sends(
        {"error": {"code": 400, "message": "?", "type": "exceed_context_size_error", "n_ctx": 256}},
        status=400,
    ),
    "llama.cpp with 500": sends(
        {"error": {"code": 500, "message": "?", "type": "exceed_context_size_error"}}, status=500
    ),
    "llama.cpp with 200": sends(
        {"error": {"code": 400, "message": "?", "type": "exceed_context_size_error"}}
    ),
    "a proxy": Reply(b"<html>Request entity too large</html>", status=413),
}


def ask(words: str = SECRET, *, purpose: str = "paint") -> Completion:
    prompt = Prompt(purpose=purpose, version="1", system="Name a colour.", user=words)
    return complete(prompt=prompt, schema=Colour)


@pytest.mark.parametrize("refusal", LENGTHS.values(), ids=LENGTHS)
def test_a_prompt_that_is_too_long_is_sent_once(refusal: Reply, model: ModelServer) -> None:
    model.script("paint", refusal)
    with pytest.raises(PromptTooLong) as caught:
        ask("wonderful " * 40_000)
    assert SECRET not in str(caught.value) and len(model.asked) == 1


def test_a_short_prompt_is_sent_again_without_room_for_a_long_answer(model: ModelServer) -> None:
    model.script("paint", LENGTHS["vllm"], GREEN, GREEN)
    assert ask().text == ask().text
    assert ["max_tokens" in asked.body for asked in model.asked] == [True, False, False]


def test_a_short_prompt_for_which_there_is_no_room_is_sent_twice(model: ModelServer) -> None:
    model.script("paint", LENGTHS["vllm"], LENGTHS["vllm"])
    with pytest.raises(PromptTooLong):
        ask()


@pytest.mark.parametrize(
    "refusal",
    [
        openai_error(
            "max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
            param="max_tokens",
            code="invalid_value",
        ),
        vllm_error(
            "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum"
            " context length is 8192 tokens and your request has 900 input tokens."
        ),
    ],
)
def test_a_bound_that_is_too_large_is_left_to_the_server(
    refusal: Reply, model: ModelServer
) -> None:
    model.script("paint", refusal, GREEN)
    assert ask().text
    assert not model.asked[1].body.keys() & {"max_tokens", "max_completion_tokens"}


@pytest.mark.parametrize("code", ["content_filter", "invalid_prompt"])
def test_a_question_whose_content_is_refused_is_put_once(code: str, model: ModelServer) -> None:
    model.script("paint", openai_error("response_format json", param=None, code=code))
    with pytest.raises(ContentRefused):
        ask()


@pytest.mark.parametrize(
    "refusal",
    [
        openai_error("The model does not exist", param="model", code=None),
        openai_error("The model does not exist", param=None, code="model_not_found"),
        openai_error("Incorrect API key", param=None, code="invalid_api_key"),
    ],
)
def test_what_an_operator_mends_is_waited_for(refusal: Reply, model: ModelServer) -> None:
    model.script("paint", refusal)
    with pytest.raises(OperatorFault):
        ask()


FAULTS: dict[str, tuple[Reply, str]] = {
    "OpenAI's key": (fails(401), "401: the key was refused, see OPENAI_API_KEY"),
    "Gemini's key": (
        sends([{"error": {"message": "API key not valid.", "status": "INVALID"}}], status=400),
        "400: the key was refused, see OPENAI_API_KEY",
    ),
    "Gemini's region": (
        sends(
            [{"error": {"message": "User location is not supported for the API use."}}], status=400
        ),
        "400: the provider does not serve this region",
    ),
    "Anthropic's credit": (
        sends(
            {"error": {"message": "Your credit balance is too low to access the API."}}, status=400
        ),
        "400: the account is empty",
    ),
    "OpenAI's limit": (
        openai_error("Billing hard limit has been reached", param=None, code="billing_hard_limit"),
        "400: the account is empty",
    ),
    "OpenAI's quota": (
        sends({"error": {"message": "no", "code": "insufficient_quota"}}, status=429),
        "429: the account is empty",
    ),
    "OpenRouter's model": (
        sends({"error": {"message": "x is not a valid model ID", "code": 400}}, status=400),
        "400: the model is not to be had there, see MEMORY_CHAT_MODEL",
    ),
    "OpenRouter's credit behind 200": (
        sends({"error": {"message": "needs more credits", "code": 402}}),
        "402: the account is empty",
    ),
    "LM Studio without a model": (
        sends({"error": {"message": "No models loaded. Please load a model"}}, status=404),
        "404: the model is not to be had there",
    ),
    "Azure's deployment": (
        sends({"error": {"code": "DeploymentNotFound", "message": "no"}}, status=404),
        "404: the model is not to be had there",
    ),
    "a wrong path": (fails(404), "404: nothing is found there, see OPENAI_BASE_URL"),
    "a redirect": (fails(301, location="/v2"), "301: the address has moved, see OPENAI_BASE_URL"),
    "Ollama's memory": (
        sends({"error": {"message": "model requires more system memory (9 GiB)"}}, status=500),
        "500: the model does not fit into its server's memory",
    ),
}


@pytest.mark.parametrize(("refusal", "sentence"), FAULTS.values(), ids=FAULTS)
def test_an_operator_is_told_in_one_sentence(
    refusal: Reply, sentence: str, model: ModelServer
) -> None:
    model.script("paint", refusal)
    with pytest.raises(OperatorFault) as fault:
        ask()
    assert str(fault.value).startswith(sentence)


PASSING: dict[str, Reply] = {
    "LM Studio": sends(
        {"error": "The model has crashed without additional information."}, status=400
    ),
    "OpenRouter": sends({"error": {"message": "Provider returned error", "code": 429}}),
    "llama.cpp": sends({"error": {"message": "Loading model", "code": 503}}, status=503),
    "OpenAI": sends(
        {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}, status=429
    ),
}


@pytest.mark.parametrize("refusal", PASSING.values(), ids=PASSING)
def test_what_passes_is_for_nobody(refusal: Reply, model: ModelServer) -> None:
    model.script("paint", refusal)
    with pytest.raises(ModelUnavailable) as away:
        ask()
    assert type(away.value) is ModelUnavailable


def test_a_grammar_that_fails_with_500_is_left_out(model: ModelServer) -> None:
    said = {
        "error": {"code": 500, "message": "Failed to initialize samplers: failed to parse grammar"}
    }
    model.script("paint", sends(said, status=500))
    model.script("plain", GREEN)
    assert ask().text


def test_what_an_operator_sends_along_goes_along_and_is_blamed(
    model: ModelServer, settings: Settings
) -> None:
    settings.CHAT_EXTRA = {
        "reasoning_effort": "low",
        "extra_body": {"provider": {"sort": "price"}},
        "extra_headers": {"X-Title": "memory"},
        "extra_query": {"api-version": "2025"},
    }
    model.script("paint", GREEN, openai_error("provider is unknown", param="provider", code=None))
    ask()
    asked = model.asked[0]
    assert (asked.body["reasoning_effort"], asked.body["provider"]) == ("low", {"sort": "price"})
    assert asked.headers["x-title"] == "memory" and asked.path.endswith("?api-version=2025")
    with pytest.raises(OperatorFault, match="see MEMORY_CHAT_EXTRA"):
        ask()


def test_the_package_asks(model: ModelServer) -> None:
    model.script("paint", GREEN)
    ask()
    assert model.asked[0].headers["x-stainless-lang"] == "python"
    assert model.asked[0].headers["user-agent"].startswith("OpenAI/Python")


def test_a_refusal_that_names_what_was_not_sent_is_one_without_a_name(model: ModelServer) -> None:
    strange = openai_error("no", param="top_p", code="unsupported_parameter")
    model.script("paint", strange)
    model.script("plain", GREEN)
    assert ask().text
    assert [form_of(asked.body) for asked in model.asked] == ["json_schema", "json_object"]


def test_what_no_form_helps_is_tried_a_few_times_only(model: ModelServer) -> None:
    """Nor is anything learnt from it: the next question starts with the richest form."""
    model.refuse(lambda asked: fails(400))
    for _ in range(FRUITLESS_AT_MOST + 2):
        with pytest.raises(RequestRefused):
            ask()
    assert len(model.asked) == FRUITLESS_AT_MOST * 5 + 2
    assert form_of(model.asked[-1].body) == "json_schema"


def test_a_form_that_was_taken_before_is_not_to_blame(model: ModelServer) -> None:
    model.script("paint", GREEN, fails(400))
    ask()
    with pytest.raises(RequestRefused):
        ask()
    model.script("draw", fails(400))
    model.script("plain", GREEN)
    assert ask(purpose="draw").text  # that one, its schema perhaps, is new to the server


def test_a_better_server_is_found_out_within_an_hour(model: ModelServer) -> None:
    model.always("paint", GREEN)
    model.always("plain", GREEN)
    model.refuse(lambda asked: terse_proxy(asked.body))
    ask()
    model.refuse(lambda asked: takes_all(asked.body))
    ask()
    assert model.asked[-1].body.keys() == {"model", "messages"}
    llm.open_channel().learnt_at -= LEARNT_FOR_S + 1
    ask()
    assert form_of(model.asked[-1].body) == "json_schema"
    assert model.asked[-1].body["max_tokens"] == 8192


def test_nothing_is_learnt_from_an_outage(model: ModelServer) -> None:
    model.script("paint", fails(400), GREEN)
    model.script("plain", fails(503))
    with pytest.raises(ModelUnavailable):
        ask()
    ask()
    assert form_of(model.asked[-1].body) == "json_schema"


def test_learning_takes_no_longer_than_a_question_may(
    model: ModelServer, settings: Settings
) -> None:
    settings.MODEL_TIMEOUT_S = 1
    slow = Reply(b"{}", status=400, hang_s=0.6)
    model.refuse(lambda asked: slow)
    with pytest.raises(ModelUnavailable):
        ask()
    assert 1 <= len(model.asked) <= 4, "twice as long, as it may have to load its model"


@pytest.mark.parametrize("answer", ["Green, I think.", '{"answer": "green"}'])
def test_a_server_that_overlooks_the_form_is_told_it_in_words_too(
    answer: str, model: ModelServer
) -> None:
    model.script("paint", says(answer), GREEN, GREEN)
    for _ in range(3):
        ask()
    assert ["JSON schema" in asked.system for asked in model.asked] == [False, True, True]
    assert [form_of(asked.body) for asked in model.asked] == ["json_schema"] * 3


@pytest.mark.parametrize(
    "refuse",
    [
        lambda asked: openai_error(SECRET, param=SECRET, code=SECRET),
        lambda asked: sends({"error": SECRET}, status=422),
        lambda asked: sends({"detail": [{"loc": ["body", SECRET], "msg": SECRET}]}, status=422),
        lambda asked: Reply(SECRET.encode(), status=400),
        lambda asked: sends([SECRET, {"error": [SECRET]}], status=400),
        lambda asked: sends({"error": {"message": [1], "param": 7, "code": {}}}, status=400),
    ],
)
def test_a_refusals_words_go_nowhere(
    refuse: Callable[[Asked], Reply], model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="memory")
    model.refuse(refuse)
    with pytest.raises(ModelMisbehaved) as caught:
        ask()
    assert caught.value.__cause__ is None and SECRET not in str(caught.value)
    assert SECRET not in caplog.text


def test_a_request_bounds_the_answer_and_asks_for_no_variety(
    model: ModelServer, settings: Settings
) -> None:
    settings.CHAT_ANSWER_TOKENS = 512
    model.script("paint", GREEN)
    ask()
    body: dict[str, Any] = model.asked[0].body
    assert (body["max_tokens"], body["temperature"]) == (512, 0)
    assert json.dumps(body).count(SECRET) == 1

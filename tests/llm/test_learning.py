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
    with pytest.raises(ModelUnavailable):
        ask()


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
    assert 1 <= len(model.asked) <= 2


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

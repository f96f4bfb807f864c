"""Answers and bills in every shape."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from memoryproject.ai.answers import Completion
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import AnswerRefused, ModelMisbehaved, ModelUnavailable
from memoryproject.ai.llm import complete
from tests.model_server import ModelServer, says, sends


class Colour(pydantic.BaseModel):
    colour: str


GREEN = '{"colour": "green"}'


def ask(words: str = "Which?") -> Completion:
    prompt = Prompt(purpose="paint", version="1", system="Name a colour.", user=words)
    return complete(prompt=prompt, schema=Colour)


def message(**said: Any) -> dict[str, Any]:
    return {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": "paint", "arguments": arguments}}


CUT = {"finish_reason": "length"}
ANSWERS: dict[str, tuple[list[dict[str, Any]], str, bool]] = {
    "plain": ([message(content=GREEN)], GREEN, False),
    "with thoughts": ([message(content=GREEN, reasoning_content="{}")], GREEN, False),
    "taken for a thought": ([message(content=None, reasoning_content=GREEN)], GREEN, False),
    "taken for another thought": ([message(content="", reasoning=GREEN)], GREEN, False),
    "cut": ([message(content='{"colour": "gr') | CUT], '{"colour": "gr', True),
    "cut while thinking": ([message(content="", reasoning=GREEN) | CUT], "", True),
    "cut in other words": ([message(content="{") | {"finish_reason": "MAX_TOKENS"}], "{", True),
    "parts": (
        [
            message(
                content=[
                    {"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]},
                    {"type": "text", "text": GREEN[:9]},
                    {"type": "image_url", "image_url": {}},
                    {"type": "text", "text": GREEN[9:]},
                ]
            )
        ],
        GREEN,
        False,
    ),
    "a tool": ([message(content=None, tool_calls=[call(GREEN)])], GREEN, False),
    "a tool's object": (
        [message(content="", tool_calls=[call({"colour": "green"})])],
        GREEN,
        False,
    ),
    "an old tool": ([message(function_call={"name": "f", "arguments": GREEN})], GREEN, False),
    "several": ([message(content=" "), message(content=GREEN)], GREEN, False),
    "none": ([], "", False),
    "null": ([message(content=None)], "", False),
    "a number": ([message(content=7)], "", False),
    "odd parts": ([message(content=[7, None, {"text": 7}], tool_calls={"a": 1})], "", False),
    "odd tools": ([message(tool_calls=[None, {"function": None}, call(7)])], "", False),
    "no message": ([{"index": 0}], "", False),
}


@pytest.mark.parametrize(("choices", "text", "cut"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_wherever_it_stands(
    choices: list[dict[str, Any]], text: str, cut: bool, model: ModelServer
) -> None:
    model.script("paint", sends({"object": "chat.completion", "choices": choices}))
    found = ask()
    assert (found.text, found.cut) == (text, cut)


@pytest.mark.parametrize(
    "choice",
    [
        message(content=None, refusal="I cannot help with moving house."),
        message(content="") | {"finish_reason": "content_filter"},
    ],
)
def test_a_refusal_is_told_from_an_answer(choice: dict[str, Any], model: ModelServer) -> None:
    model.script("paint", sends({"object": "chat.completion", "choices": [choice]}))
    with pytest.raises(AnswerRefused):
        ask()


def test_a_provider_whose_model_failed_is_asked_again_later(model: ModelServer) -> None:
    choice = message(content="") | {"finish_reason": "error", "error": {"code": 502}}
    model.script("paint", sends({"object": "chat.completion", "choices": [choice]}))
    with pytest.raises(ModelUnavailable):
        ask()


@pytest.mark.parametrize("body", [{}, {"choices": "none"}, {"choices": [7]}, {"choices": None}])
def test_an_answer_without_choices_is_none(body: Any, model: ModelServer) -> None:
    model.script("paint", sends(body))
    with pytest.raises(ModelMisbehaved):
        ask()


def test_an_answer_that_fills_its_bound_is_cut_whatever_the_server_says(model: ModelServer) -> None:
    model.script("paint", says(GREEN, usage={"prompt_tokens": 9, "completion_tokens": 8192}))
    assert ask().cut


BILLS: list[tuple[Any, tuple[int | None, int | None]]] = [
    (None, (None, None)),
    ("seven", (None, None)),
    ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3)),
    ({"prompt_tokens": 0, "completion_tokens": 0}, (None, 0)),
    ({"prompt_tokens": -7, "completion_tokens": 2**60}, (None, 2**31 - 1)),
    ({"prompt_tokens": "7", "completion_tokens": True}, (None, None)),
    ({"input_tokens": 7, "output_tokens": 3}, (7, 3)),
    ({"input_tokens": 7, "cache_read_input_tokens": 90, "output_tokens": 3}, (97, 3)),
    ({"prompt_eval_count": 7, "eval_count": 3}, (7, 3)),
    ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 30}, (7, 23)),
    ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 3}, (7, 3)),
    (
        {
            "prompt_tokens": 7,
            "completion_tokens": 23,
            "total_tokens": 30,
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        (7, 23),
    ),
]


@pytest.mark.parametrize(("usage", "tokens"), BILLS)
def test_a_bill_of_any_form_is_taken(
    usage: Any, tokens: tuple[int | None, int | None], model: ModelServer
) -> None:
    model.script("paint", says(GREEN, usage=usage))
    found = ask()
    assert (found.input_tokens, found.output_tokens) == tokens


def test_a_bill_beside_the_answer_is_taken(model: ModelServer) -> None:
    body = {"choices": [message(content=GREEN)], "prompt_eval_count": 7, "eval_count": 3}
    model.script("paint", sends(body))
    found = ask()
    assert (found.input_tokens, found.output_tokens) == (7, 3)

"""Answers and bills in every shape, and prompts of which a server reads only a part."""

from __future__ import annotations

import logging
from typing import Any

import pydantic
import pytest

from memoryproject.ai import llm
from memoryproject.ai.answers import Completion
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.llm import complete
from tests.model_server import ModelServer, says, sends


class Colour(pydantic.BaseModel):
    colour: str


GREEN = '{"colour": "green"}'
TALK = "I moved from Ghent to Rotterdam. "


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
    "a refusal": ([message(content=None, refusal="I cannot help with moving house.")], "", False),
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


def bill(read: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": read, "completion_tokens": 3, "total_tokens": read + 3, **more}


def test_a_prompt_of_which_a_part_is_read_is_told_once_and_in_numbers(
    model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Ollama's context holds 4,096 tokens unless told otherwise; it keeps half of that."""
    model.script("paint", *[says(GREEN, usage=bill(2050))] * 2)
    with caplog.at_level(logging.WARNING, logger="memory"):
        assert ask(TALK * 1_000).prompt_cut
        assert ask("Once more. " + TALK * 1_000).prompt_cut
    (record,) = caplog.records
    assert "read 2050 tokens of about 8250" in record.getMessage()
    assert "Ghent" not in caplog.text


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (TALK * 1_000, bill(7_000)),
        (TALK * 1_000, bill(4_200)),
        (TALK * 60, bill(40)),
        (TALK * 1_000, None),
        (TALK * 1_000, bill(0)),
        (TALK * 1_000, bill(100, prompt_tokens_details={"cached_tokens": 6_900})),
        (TALK * 1_000, {"input_tokens": 100, "cache_read_input_tokens": 6_900}),
        (f"{TALK}{'-' * 20_000}\n{' ' * 20_000}", bill(700)),
        ("我上周从根特搬到了鹿特丹。" * 300, bill(2_400)),
    ],
    ids=["whole", "counted otherwise", "short", "not told", "told as none", "cached",
         "cached and counted apart", "runs of signs", "Chinese"],
)  # fmt: skip
def test_a_prompt_that_may_have_been_read_whole_is_not_called_cut(
    words: str, usage: Any, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="memory")
    model.script("paint", says(GREEN, usage=usage))
    assert not ask(words).prompt_cut and not caplog.records


def test_what_the_server_may_have_kept_from_the_question_before_does_not_count(
    model: ModelServer,
) -> None:
    """Versions of Ollama count only what they read anew."""
    model.script("paint", says(GREEN, usage=bill(7_000)), says(GREEN, usage=bill(12)))
    ask(TALK * 1_000)
    assert not ask(TALK * 1_000 + "Once more, please.").prompt_cut


def test_the_warning_outlives_what_was_learnt(
    model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="memory")
    model.always("paint", says(GREEN, usage=bill(2050)))
    ask(TALK * 1_000)
    llm.open_channel().learnt_at -= llm.LEARNT_FOR_S + 1
    ask("Once more. " + TALK * 1_000)
    assert len(caplog.records) == 1

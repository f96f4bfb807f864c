"""How much a model reads is found out, and questions are made to fit."""

from __future__ import annotations

import json
import logging
import uuid
from typing import Any

import pydantic
import pytest
from pytest_django import Settings

from jobs.models import LLMCall
from memoryproject.ai import context
from memoryproject.ai.breaker import find_limits
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.errors import OperatorFault
from memoryproject.ai.llm import complete
from semantic.models import Fact
from tests.conftest import Agent
from tests.dialects import openai_error
from tests.llm.answers import change, changes, segment, segments, shown_lines
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply, says, sends
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db


class Colour(pydantic.BaseModel):
    colour: str


TALK = "I moved from Ghent to Rotterdam. "
LONG = TALK * 1_000


def ask(words: str) -> int | None:
    prompt = Prompt(purpose="paint", version="1", system="Name a colour.", user=words)
    return complete(prompt=prompt, schema=Colour).read_at_most


def count(asked: Asked) -> int:
    return count_prompt_tokens("".join(part["content"] for part in asked.body["messages"]))


def bill(read: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": read, "completion_tokens": 3, "total_tokens": read + 3, **more}


def reads(model: ModelServer, *, at_most: int = 10**6, ratio: float = 1.0) -> None:
    """Let a server read so many of its tokens, of which it makes `ratio` for one of ours."""

    def answer(asked: Asked) -> Reply:
        return says({"colour": "green"}, usage=bill(min(at_most, round(ratio * count(asked)))))

    model.always("paint", answer)
    model.always("plain", answer)


@pytest.mark.parametrize("share", [0.3, 0.88])
def test_a_prompt_of_which_a_part_is_read_is_noticed(share: float, model: ModelServer) -> None:
    at_most = round(share * count_prompt_tokens(LONG))
    reads(model, at_most=at_most)
    assert ask(LONG) == at_most


@pytest.mark.parametrize("ratio", [0.6, 1.3])
def test_a_model_that_counts_otherwise_is_not_called_cut(ratio: float, model: ModelServer) -> None:
    reads(model, ratio=ratio)
    assert ask(LONG) is None
    asked = len(model.asked)
    assert ask("Once more. " + LONG) is None
    assert len(model.asked) == asked + 1, "how it counts was learnt"


def test_a_cut_is_noticed_also_where_the_model_counts_otherwise(model: ModelServer) -> None:
    whole = 0.7 * count_prompt_tokens(LONG)
    reads(model, ratio=0.7, at_most=round(0.85 * whole))
    assert ask(LONG) == round(0.85 * whole)


@pytest.mark.parametrize(
    "usage",
    [None, bill(0), bill(40), bill(100, prompt_tokens_details={"cached_tokens": 8_300})],
    ids=["not told", "told as none", "another thing", "cached and counted apart"],
)
def test_what_is_no_count_calls_nothing_cut(usage: Any, model: ModelServer) -> None:
    model.script("paint", says({"colour": "green"}, usage=usage))
    assert ask(LONG) is None


def remember(asked: Asked) -> Reply:
    """Answer a fact for each line shown."""
    rows = [
        change("new", f"Mira counts to {number}.", messages=[number])
        for number in shown_lines(asked)
    ]
    return says(changes(*rows))


def remember_the_last(asked: Asked) -> Reply:
    """Do so, and count the tokens of a context of 4,096."""
    reply = json.loads(remember(asked).body)
    return sends(reply | {"usage": bill(min(4_096, count(asked)))})


@pytest.fixture
def long_talk(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """Eighteen messages, too long together for a context of 4,096 tokens."""
    said = [(f"Mira {i}", f"Number {i}. " + TALK * 60) for i in range(18)]
    rows = [{"role": "user", "name": "Mira", "content": text} for _, text in said]
    post(ana, conversation, rows)
    return conversation


def test_a_model_that_reads_the_last_half_is_asked_again_in_parts(
    model: ModelServer, ana: Agent, long_talk: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    """Ollama's context holds 4,096 tokens unless told otherwise, and it says nothing."""
    caplog.set_level(logging.WARNING, logger="memory")
    model.always("segment", says(segments(segment(17))))
    model.always("consolidate", remember_the_last)
    model.always("plain", lambda asked: says("", usage=bill(count(asked))))
    ana.flush(long_talk)
    facts = Fact.objects.of(ana.tenant)
    assert facts.count() == 18, "the first half as well"
    cut = LLMCall.objects.of(ana.tenant).get(prompt_cut=True)
    assert (cut.ok, cut.error_class) == (False, "PromptCut")
    assert all(count(asked) < 4_096 for asked in model.requests("consolidate")[1:])
    assert find_limits().context_tokens == 4_096
    assert "reads about 4096 tokens at once" in caplog.text and "Ghent" not in caplog.text


def test_a_question_that_is_too_long_is_put_in_parts_not_answered_offline(
    model: ModelServer, ana: Agent, long_talk: uuid.UUID
) -> None:
    def gate(asked: Asked) -> Reply | None:
        if count(asked) + asked.body.get("max_tokens", 0) <= 4_000:
            return None
        text = "This model's maximum context length is 4000 tokens."
        return openai_error(text, param="messages", code="context_length_exceeded")

    model.refuse(gate)
    model.always("segment", lambda asked: says(segments(segment(shown_lines(asked)[-1]))))
    model.always("consolidate", remember)
    ana.flush(long_talk)
    assert Fact.objects.of(ana.tenant).count() == 18
    assert find_limits().context_tokens == 4_000


def test_a_context_in_which_no_question_fits_is_for_an_operator(model: ModelServer) -> None:
    with pytest.raises(OperatorFault, match="1500 tokens at once, which are too few"):
        context.shrink(to=1_500, asked=9_000)


SERVERS: dict[str, tuple[str, Any]] = {
    "Ollama": ("/api/ps", {"models": [{"name": "mine:latest", "context_length": 8_192}]}),
    "llama.cpp": ("/props", {"default_generation_settings": {"n_ctx": 8_192}}),
    "LM Studio": ("/api/v0/models", {"data": [{"id": "mine", "loaded_context_length": 8_192}]}),
    "vLLM": ("/v1/models", {"data": [{"id": "mine", "max_model_len": 8_192}]}),
}


@pytest.mark.parametrize(("path", "answer"), SERVERS.values(), ids=SERVERS)
def test_servers_name_their_context(
    path: str, answer: Any, model: ModelServer, settings: Settings
) -> None:
    settings.CHAT_MODEL = "mine"
    model.get[path] = answer
    assert context.find_context() == 8_192
    assert context.find_answer_tokens() == 2_048
    assert find_limits().context_tokens == 8_192
    assert json.dumps(answer).count("8192") == 1


def test_a_model_that_is_not_loaded_yet_is_loaded_to_learn_its_context(
    model: ModelServer, settings: Settings
) -> None:
    settings.CHAT_MODEL = "mine"
    model.get["/api/ps"] = {"models": []}

    def load(asked: Asked) -> Reply:
        assert asked.body["max_tokens"] == 1
        model.get["/api/ps"] = {"models": [{"name": "mine", "context_length": 8_192}]}
        return says("Hi")

    model.script("plain", load)
    assert context.find_context() == 8_192


def test_what_fits_is_not_asked_in_parts(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    model.always("segment", says(segments(segment(7))))
    model.always("consolidate", says(changes(), usage=bill(1_900)))
    model.always("plain", says("", usage=bill(900)))
    post(ana, conversation, messages(MOVING, MORNING))
    ana.flush(conversation)
    assert not LLMCall.objects.of(ana.tenant).filter(prompt_cut=True).exists()

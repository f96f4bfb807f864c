"""A conversation that is too long for one question is asked about in several."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from pytest_django import Settings

from episodic.models import Episode, Message
from jobs.models import LLMCall
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.prompts import CUT, fill
from semantic.models import Changeset, Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments, shown_lines
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply, says
from tests.talk import MORNING, MOVING, RUNNING, messages

pytestmark = [pytest.mark.django_db, pytest.mark.gate]


@pytest.fixture(autouse=True)
def small_context(settings: Settings) -> None:
    settings.CHAT_CONTEXT_TOKENS, settings.CHAT_ANSWER_TOKENS = 4_096, 1_024


def halve(asked: Asked) -> Reply:
    """Answer with two episodes, or with one where there are few lines."""
    last = shown_lines(asked)[-1]
    if last < 3:
        return says(segments(segment(last)))
    return says(segments(segment(last // 2), segment(last)))


def flush(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> None:
    model.always("segment", halve)
    model.always("consolidate", lambda asked: says(changes()))
    drained = ana.flush(conversation)
    assert (drained.later, drained.dead) == (0, 0)
    for asked in model.asked:
        assert count_prompt_tokens(asked.system + asked.user) < 4_096 - 1_024


def test_a_long_window_is_asked_about_in_parts_and_every_line_is_shown_in_full(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    said = [
        {**message, "content": f"{message['content']} {'Really, truly so. ' * 25}"}
        for message in messages(MOVING + RUNNING, MORNING)
    ]
    post(ana, conversation, said)
    flush(model, ana, conversation)
    asked = model.requests("segment")
    numbers = [shown_lines(one) for one in asked]
    assert len(asked) > 1 and all(each == list(range(len(each))) for each in numbers)
    assert all("Before: " in one.user for one in asked[1:])
    shown = "".join(one.user for one in asked)
    assert all(" ".join(message["content"].split()) in shown for message in said)
    episodes = list(Episode.objects.of(ana.tenant).order_by("first_seq"))
    covered = [seq for e in episodes for seq in range(e.first_seq, e.last_seq + 1)]
    assert covered == list(range(1, 17)) and not any(e.degraded for e in episodes)
    assert not LLMCall.objects.of(ana.tenant).exclude(left_out=0).exists()


def test_the_last_episode_of_a_part_opens_the_next_one(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    said = [{"role": "user", "content": f"{n} " + "so be it " * 60} for n in range(18)]
    post(ana, conversation, said)
    flush(model, ana, conversation)
    first, second = model.requests("segment")[:2]
    opens = first.user.splitlines()[1 + shown_lines(first)[-1] // 2 + 1]
    assert opens.partition("] ")[2] in second.user.splitlines()[2]


def test_a_line_that_is_too_long_loses_its_middle_and_the_record_says_how_much(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    long = "The opening words. " + "wonderful " * 3_000 + "The closing words."
    post(ana, conversation, [{"role": "user", "content": long}, *messages(MOVING[:3], MORNING)])
    flush(model, ana, conversation)
    (asked,) = model.requests("segment")
    line = asked.user.splitlines()[1]
    assert "The opening words." in line and CUT in line and line.endswith('The closing words."')
    call = LLMCall.objects.of(ana.tenant).get(purpose="segment")
    assert call.left_out == len(f'user: "{long}"') - len(line.partition("] ")[2]) + len(CUT)
    assert Message.objects.of(ana.tenant).get(seq=1).content == long


def test_facts_are_drawn_from_every_word_of_a_long_message(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    long = " ".join(f"word{number}" for number in range(2_000))
    post(ana, conversation, [{"role": "user", "content": long}, *messages(MOVING[:3], MORNING)])
    flush(model, ana, conversation)
    asked = model.requests("consolidate")
    assert len(asked) > 2 and all("(continued)" in one.user for one in asked[1:-1])
    pieces = [
        json.loads(line.partition("] user: ")[2])
        for one in asked
        for line in one.user.splitlines()
        if line.startswith("1 [")
    ]
    assert "".join(pieces) == long
    assert not LLMCall.objects.of(ana.tenant).filter(purpose="consolidate").exclude(left_out=0)


def test_the_answers_to_all_parts_become_one_changeset(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    long = " ".join(f"word{number}" for number in range(1_200))
    post(ana, conversation, [{"role": "user", "content": long}, *messages(MOVING[:3], MORNING)])
    model.always("segment", halve)
    answered: list[Any] = []

    def answer(asked: Asked) -> Reply:
        answered.append(asked)
        (seq, *_) = shown_lines(asked)
        return says(changes(change("new", f"Mira said thing {len(answered)}.", messages=[seq])))

    model.always("consolidate", answer)
    ana.flush(conversation)
    assert len(answered) > 1
    changeset = Changeset.objects.of(ana.tenant).get()
    assert Fact.objects.of(ana.tenant).count() == len(answered) and not changeset.degraded


def test_groups_fit_and_leave_nothing_out() -> None:
    groups = list(fill([3, 3, 3, 9, 1, 1], room=6))
    assert groups == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 6)]
    assert list(fill([], room=6)) == []

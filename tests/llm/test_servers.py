"""Servers that speak OpenAI's protocol each in a way of their own."""

from __future__ import annotations

import json
import uuid

import pytest

from episodic.models import Episode
from jobs.models import LLMCall
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.llm import parse_object, strict_schema
from semantic.llm.replies import ConsolidationReply
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.model_server import ModelServer, fails, says

pytestmark = pytest.mark.django_db

GOOD = segments(segment(7, "Mira's new job"))
TEXT = json.dumps(GOOD)


@pytest.mark.gate
@pytest.mark.parametrize(
    "text",
    [
        f"Here you are:\n{TEXT}\nAnything else {{maybe}}?",
        f"```json\n{TEXT}\n```",
        f"<think>\nShould it be {{}} or {TEXT[:60]}? No.\n</think>\n\n{TEXT}",
        f'<think>First thought: {{"episodes": [], "doubts": "{"very long " * 90}"}}</think>{TEXT}',
        f"thoughts whose start the server took away</think>{TEXT}",
        TEXT.replace("Jonas talk about", "Jonas\ntalk about"),
        json.dumps(GOOD | {"extra": {"deep": [[[1]]]}}),
    ],
    ids=["prose", "a code fence", "a thought", "a long thought", "half a thought", "a line break",
         "something extra"],
)  # fmt: skip
def test_an_answer_is_found_in_what_stands_around_it(
    text: str, model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(text))
    model.script("consolidate", says(changes()))
    ana.flush(talk)
    episode = Episode.objects.of(ana.tenant).get()
    assert (episode.title, episode.degraded) == ("Mira's new job", False)
    kept = LLMCall.objects.of(ana.tenant).get(purpose="segment").response
    assert kept is not None and set(kept) == {"episodes"}


@pytest.mark.parametrize(
    "text", ["", "{", "}{", "[]", "null", '"one"', "{" * 100_000, '{"a": "\\u0000"}', '{"a": NaN}']
)
def test_where_there_is_no_object_nothing_is_found(text: str) -> None:
    with pytest.raises(ModelMisbehaved):
        parse_object(text)


@pytest.mark.parametrize(
    "text",
    [
        "{'rows': [{'text': \"Ana's \\\"cat\\\" // 1\", 'ok': True, 'when': None},],}",
        '{"rows": [ // one\n{"text": "Ana\'s \\"cat\\" // 1", "ok": true, "when": null},]}',
    ],
    ids=["Python", "comments and commas"],
)
def test_an_answer_in_careless_json_is_read(text: str) -> None:
    row = {"text": 'Ana\'s "cat" // 1', "ok": True, "when": None}
    assert parse_object(f"Sure:\n```json\n{text}\n```") == {"rows": [row]}


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_schemas_is_asked_for_plain_json_from_then_on(
    status: int, model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", fails(status))
    model.script("plain", says(GOOD), says(changes()))
    ana.flush(talk)
    assert not Episode.objects.of(ana.tenant).get().degraded
    asked = [request.body["response_format"]["type"] for request in model.asked]
    assert asked == ["json_schema", "json_object", "json_object"]
    assert all("JSON schema" in request.system for request in model.requests("plain"))
    assert '"episodes"' in model.requests("plain")[0].system


def test_a_question_refused_in_any_form_is_left_to_the_offline_engine(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    """Later ones are asked with a schema again: it may have been that question's fault."""
    model.refuse(lambda asked: fails(400) if "You divide" in asked.system else None)
    model.script("consolidate", says(changes()))
    ana.flush(talk)
    assert all(episode.degraded for episode in Episode.objects.of(ana.tenant))
    failed = LLMCall.objects.of(ana.tenant).filter(ok=False)
    assert {call.error_class for call in failed} == {"RequestRefused"}


def test_a_request_names_model_key_and_a_strict_form(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(GOOD))
    model.script("consolidate", says(changes()))
    ana.flush(talk)
    for asked in model.asked:
        assert asked.authorization == "Bearer key-of-the-provider"
        assert asked.body["model"] == "scripted"
        assert asked.body["response_format"]["json_schema"]["strict"] is True


def test_a_strict_form_requires_every_field_and_forbids_others() -> None:
    form = strict_schema(ConsolidationReply)
    row = form["$defs"]["UpdateReply"]
    assert row["required"] == list(row["properties"]) and "ref" in row["required"]
    assert row["additionalProperties"] is False
    assert '"default"' not in json.dumps(form)

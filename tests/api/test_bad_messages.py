"""A message with a wrong field is refused, the field is named, and nothing is stored."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

ID = "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"
HEX = ID.replace("-", "")

WRONG_IDS = ["", " ", "x", ID[:-1], ID + "0", f" {ID}", f"{ID}\n", f"{{{ID}}}", f"urn:uuid:{ID}",
             HEX, HEX[:16] + "-" + HEX[16:], ID.replace("0", "g", 1), ID.replace("0", "٠", 1),
             12345, 0, int(HEX, 16), 1.5, True, [], [ID], {}, {"id": ID}, None]  # fmt: skip

NOT_TEXT: list[Any] = [None, 1, 0, 1.5, True, False, [], ["hi"], {}, {"text": "hi"}]
EMPTY = ["", " ", "\t\r\n", "\u00a0", "\u2003\u3000", "\u2028\u2029", "\u0085\x1f\x0b"]
WRONG_ROLES = [*NOT_TEXT, "", " ", "User", "USER", "user ", "human", "Developer", "function"]
WRONG_NAMES = [*NOT_TEXT[1:], "n" * 201]
WRONG_METADATA = [1, True, "text", "{}", [], [{}], 1.5]

WRONG_TIMES = [
    "", " ", "now", "2026-03-02", "2026-03-02T09:00:00", "2026-03-02 09:00", "1772442000000",
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
    "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z", "+002026-03-02T09:00:00Z",
    "2026-02-30T09:00:00Z", "2026-13-01T09:00:00Z", "2026-03-02T25:00:00Z",
    "2026-03-02T23:59:60Z", "2026-03-02T09:00:00+24:00", "2026-03-02T09:00:00+00:60",
    "2026-03-02T09:00:00+99:99", "2026-03-02T09:00:00 UTC", "2026-03-02T09:00:00Zulu",
    " 2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z\n", "２０２６-03-02T09:00:00Z",
    "2026-W10-1T09:00Z",
    -1, 10**30, -(10**30), 2**63, 10**15, 1.5, 1772442000000.0, 1772442000,
    1e300, True, False, [], {},
]  # fmt: skip


def post_message(agent: Agent, **fields: Any) -> Any:
    message = {"role": "user", "content": "hi", **fields}
    return agent.post("add_message", {"conversation_id": ID, "message": message})


@pytest.mark.parametrize("given", WRONG_IDS, ids=repr)
def test_only_a_uuid_in_its_usual_form_names_a_conversation(ana: Agent, given: Any) -> None:
    message = {"role": "user", "content": "hi"}
    body = {"conversation_id": given, "message": message}
    assert_problem(ana.post("add_message", body), 400, "conversation_id")
    body = {"conversation_id": given, "messages": [message]}
    assert_problem(ana.post("add_messages", body), 400, "conversation_id")
    assert_problem(ana.post("flush", {"conversation_id": given}), 400, "conversation_id")


@pytest.mark.parametrize("given", NOT_TEXT + EMPTY, ids=repr)
def test_content_must_be_text_that_says_something(ana: Agent, given: Any) -> None:
    assert_problem(post_message(ana, content=given), 400, "message.content")


@pytest.mark.parametrize("given", WRONG_ROLES, ids=repr)
def test_an_unknown_role_is_refused_with_the_known_ones(ana: Agent, given: Any) -> None:
    body = assert_problem(post_message(ana, role=given), 400, "message.role")
    if given is not None:
        assert "user, assistant, system, tool" in body["fields"]["message.role"][0]


@pytest.mark.parametrize("given", WRONG_TIMES, ids=repr)
def test_a_time_must_be_whole_near_and_unambiguous(ana: Agent, given: Any) -> None:
    assert_problem(post_message(ana, timestamp=given), 400, "message.timestamp")


def test_a_time_over_a_century_ahead_is_refused(ana: Agent) -> None:
    ahead = timezone.now() + timedelta(days=36_500, minutes=1)
    for given in (ahead.isoformat(), int(ahead.timestamp() * 1000)):
        assert_problem(post_message(ana, timestamp=given), 400, "message.timestamp")


@pytest.mark.parametrize("given", WRONG_NAMES, ids=repr)
def test_a_name_is_a_text_of_some_length(ana: Agent, given: Any) -> None:
    assert_problem(post_message(ana, name=given), 400, "message.name")


@pytest.mark.parametrize("given", WRONG_METADATA, ids=repr)
def test_metadata_is_an_object(ana: Agent, given: Any) -> None:
    assert_problem(post_message(ana, metadata=given), 400, "message.metadata")


@pytest.mark.parametrize("missing", ["conversation_id", "message"])
def test_a_missing_field_is_named(ana: Agent, missing: str) -> None:
    body = {"conversation_id": ID, "message": {"role": "user", "content": "hi"}}
    del body[missing]
    assert_problem(ana.post("add_message", body), 400, missing)


@pytest.mark.parametrize("message", [None, [], "hi", 1, True, [{"role": "user", "content": "x"}]])
def test_a_message_is_an_object(ana: Agent, message: Any) -> None:
    body = {"conversation_id": ID, "message": message}
    assert_problem(ana.post("add_message", body), 400, "message")


def test_all_that_is_wrong_is_named_at_once(ana: Agent) -> None:
    message = {"role": "human", "content": " ", "timestamp": "now", "when": "now"}
    answer = ana.post("add_message", {"conversation_id": "x", "message": message})
    names = ("message.role", "message.content", "message.timestamp", "message.when")
    assert_problem(answer, 400, "conversation_id", *names)


def test_content_over_its_cap_is_refused_in_bytes_not_letters(ana: Agent) -> None:
    for content in (
        "x" * (settings.MAX_MESSAGE_BYTES + 1),
        "é" * (settings.MAX_MESSAGE_BYTES // 2 + 1),
    ):
        assert_problem(post_message(ana, content=content), 413, "message.content")


@pytest.mark.parametrize("messages", [None, [], {}, "hi", 1, True])
def test_a_batch_is_a_list_that_is_not_empty(ana: Agent, messages: Any) -> None:
    body = {"conversation_id": ID, "messages": messages}
    assert_problem(ana.post("add_messages", body), 400, "messages")


def test_a_batch_over_its_cap_is_refused(ana: Agent) -> None:
    messages = [{"role": "user", "content": "hi"}] * (settings.MAX_BATCH + 1)
    body = {"conversation_id": ID, "messages": messages}
    assert_problem(ana.post("add_messages", body), 413, "messages")


def test_one_bad_message_refuses_the_batch_and_is_named(ana: Agent) -> None:
    good = {"role": "user", "content": "hi"}
    for bad, status, field in (
        ({"role": "user", "content": " "}, 400, "messages.2.content"),
        ({"role": "user"}, 400, "messages.2.content"),
        ({**good, "x": 1}, 400, "messages.2.x"),
        ({**good, "content": "x" * 270_000}, 413, "messages.2.content"),
        ("hi", 400, "messages.2"),
        (None, 400, "messages.2"),
    ):
        body = {"conversation_id": ID, "messages": [good, good, bad, good]}
        assert_problem(ana.post("add_messages", body), status, field)


@pytest.mark.parametrize("key", ["", "k" * 256, "a\x7fb", "a\tb", "ключ", "é", "a\0b", "\ud800"])
def test_an_idempotency_key_is_short_printable_ascii(ana: Agent, key: str) -> None:
    body = {"conversation_id": ID, "message": {"role": "user", "content": "hi"}}
    answer = ana.post("add_message", body, **{"Idempotency-Key": key})
    assert_problem(answer, 400, "Idempotency-Key")


def test_flushing_an_unknown_conversation_does_not_make_it(ana: Agent) -> None:
    assert_problem(ana.post("flush", {"conversation_id": str(uuid.uuid4())}), 404)

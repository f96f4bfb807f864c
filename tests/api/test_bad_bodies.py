"""A body that is not strict JSON, or not an object, is refused and changes nothing."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

import pytest
from django.conf import settings

from memoryproject.edge.errors import TooLarge
from memoryproject.edge.http import DEPTH_AT_MOST, VALUES_AT_MOST, check_count
from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

ID = "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"
CALLS = ["add_message", "add_messages", "flush", "retrieve_memory", "retrieve_memory/raw",
         "context_pre_retrieve", "ask", "recent_memory", "recent_memory/raw", "reconstruct_context",
         "contexts", "erasures", f"contexts/{ID}/add", f"memories/{ID}/chunk"]  # fmt: skip


def with_metadata(json_text: str) -> bytes:
    message = f'{{"role": "user", "content": "hi", "metadata": {{"k": {json_text}}}}}'
    return f'{{"conversation_id": "{ID}", "message": {message}}}'.encode()


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + closing * depth


MALFORMED = {
    "nothing that is JSON": b"hello",
    "cut off": with_metadata("1")[:-1],
    "text after the end": with_metadata("1") + b"{}",
    "a single quote": with_metadata("'a'"),
    "a trailing comma": with_metadata("[1,]"),
    "a comment": with_metadata("1 /* one */"),
    "a line break in a text": with_metadata('"a\nb"'),
    "NUL itself": with_metadata('"a\0b"'),
    "NUL, escaped": with_metadata(r'"\u0000"'),
    "NUL in a name": with_metadata(r'{"\u0000": 1}'),
    "a high surrogate": with_metadata(r'"\ud800"'),
    "a low surrogate": with_metadata(r'"\udfff!"'),
    "a surrogate in a name": with_metadata(r'{"\uD800": 1}'),
    "surrogates the wrong way round": with_metadata(r'"\ude00\ud83d"'),
    "Latin-1": with_metadata('"é"').decode().encode("latin-1"),
    "UTF-16": with_metadata('"é"').decode().encode("utf-16"),
    "surrogates in UTF-8": with_metadata('"') + b'\xed\xa0\x80"',
    "a byte order mark": b"\xef\xbb\xbf" + with_metadata("1"),
    "NaN": with_metadata("NaN"),
    "Infinity": with_metadata("Infinity"),
    "minus Infinity": with_metadata("-Infinity"),
    "a number beyond floats": with_metadata("1e400"),
    "a number of 5,000 digits": with_metadata("9" * 5_000),
    "a name twice": with_metadata('{"a": 1, "a": 2}'),
    "a name twice, differently escaped": with_metadata(r'{"a": 1, "\u0061": 2}'),
    "lists 10,000 deep": with_metadata(nested(10_000)),
    "objects 10,000 deep": with_metadata(nested(10_000, '{"a":', "}").replace(":}", ":1}", 1)),
    "lists 900 deep": with_metadata(nested(900)),
    "just too deep": with_metadata(nested(DEPTH_AT_MOST - 2)),
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_body_is_refused(ana: Agent, body: bytes) -> None:
    assert assert_problem(ana.post("add_message", body), 400)["code"] == "parse_error"


@pytest.mark.parametrize("body", ["[]", "[{}]", "1", "true", "null", '"text"', "{}", ""])
def test_a_body_that_is_not_the_expected_object_is_refused(ana: Agent, body: str) -> None:
    for call in CALLS:
        assert assert_problem(ana.post(call, body), 400)["code"] == "invalid"


def test_a_body_over_the_cap_is_refused(ana: Agent) -> None:
    for call in CALLS:
        padding = " " * (settings.MAX_BODY_BYTES + 1)
        assert assert_problem(ana.post(call, padding), 413)["code"] == "too_large"


@pytest.mark.parametrize(
    "json_text",
    ["[" + "1," * VALUES_AT_MOST + "1]", "[" + "[]," * VALUES_AT_MOST + "[]]",
     "{" + ",".join(f'"{n}":1' for n in range(VALUES_AT_MOST)) + "}",
     "[" + '"",' * VALUES_AT_MOST + '""]', "[" + '{"a":[]},' * (VALUES_AT_MOST // 2) + "1]"],
    ids=["numbers", "lists", "one object", "texts", "objects"],
)  # fmt: skip
def test_a_body_of_too_many_values_is_refused(ana: Agent, json_text: str) -> None:
    body = with_metadata(json_text)
    assert len(body) < settings.MAX_BODY_BYTES
    assert assert_problem(ana.post("add_message", body), 413)["code"] == "too_large"


@pytest.mark.parametrize(
    "body",
    [b'"' * 4_000_000, b'"\\' * 2_000_000, b'{"a":"' + b"," * 4_000_000, b"[" * 4_000_000,
     b'["' + b"\\\"," * 1_000_000, b"," * 4_000_000],
    ids=["quotes", "escapes", "an open text", "brackets", "escaped quotes", "commas"],
)  # fmt: skip
def test_rubbish_of_the_largest_size_is_refused_soon(ana: Agent, body: bytes) -> None:
    """What takes time by the square of four million values takes hours, not seconds."""
    started = time.monotonic()
    assert ana.post("add_message", body).status_code in {400, 413}
    assert time.monotonic() - started < 60


def test_signs_in_what_was_said_do_not_count_as_values() -> None:
    for text in (json.dumps({"content": ',[{"\\' * VALUES_AT_MOST}), "[" + "1," * 99_998 + "1]"):
        check_count(text)
    with pytest.raises(TooLarge):
        check_count("[" + "1," * VALUES_AT_MOST + "1]")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate", "br", "zstd", "x", "gzip, br"])
def test_a_compressed_body_is_refused_unread(ana: Agent, encoding: str) -> None:
    body = gzip.compress(with_metadata("1"))
    for call in CALLS:
        answer = ana.client.generic(
            "POST", f"/api/v0/{call}", body, content_type="application/json",
            headers={"content-encoding": encoding},
        )  # fmt: skip
        assert assert_problem(answer, 415)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("length", [4 * 1024 * 1024 + 1, 10**12, 10**30])
def test_a_length_over_the_cap_is_refused_before_the_body_is_read(ana: Agent, length: int) -> None:
    for call in CALLS:
        answer = ana.client.post(
            f"/api/v0/{call}", b"{}", content_type="application/json", CONTENT_LENGTH=str(length)
        )
        assert assert_problem(answer, 413)["code"] == "too_large"


def test_an_unknown_field_is_named(ana: Agent) -> None:
    message = {"role": "user", "content": "hi", "contents": "hi", "Role": "user"}
    body: dict[str, Any] = {"conversation_id": ID, "message": message}
    assert_problem(ana.post("add_message", body), 400, "message.contents", "message.Role")
    message = {"role": "user", "content": "hi"}
    body = {"conversation_id": ID, "message": message, "": 1}
    assert_problem(ana.post("add_message", body), 400)


def test_unknown_fields_are_refused_by_every_call(ana: Agent) -> None:
    for call in CALLS:
        body = {"conversation_id": ID, "query": "x", "conversationId": ID}
        assert "conversationId" in assert_problem(ana.post(call, body), 400)["fields"]


def test_a_refusal_does_not_repeat_what_was_said(ana: Agent) -> None:
    said = "canary-7714"
    message = {"role": said, "content": " ", "timestamp": said, "name": said * 100}
    answer = ana.post("add_message", {"conversation_id": said, "message": message})
    assert_problem(answer, 400)
    assert said not in json.dumps(answer.json())

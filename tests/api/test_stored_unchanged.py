"""Every storable text comes back as it was posted: not trimmed, not normalised."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.conf import settings

from memoryproject.edge.http import DEPTH_AT_MOST
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

TEXTS = [
    "  leading and trailing  ", "\n\nlines\r\nof\rall\x0bkinds\x0c\u2028\u2029\x85", "\ttab\t",
    "e\u0301 and é, A\u030a and Å, ﬁ", "👩‍👩‍👧‍👦 👍🏽 🇧🇪 ❤\ufe0f",
    "\u202eright to left\u202c \u200fשלום\u200e",
    "\u200bzero\u200cwidth\u200d\ufeff", "\ufeffa byte order mark", "a\x01\x1b[31mcontrol\x7f",
    "\ufffe\uffff non-characters \U0010ffff", "𝒜 beyond the basic plane", "½² Ⅳ ｆｕｌｌ",
    "\\u0000 \\ud800 written out", "%s %(x)s {} {{}} $1 :name ? '; DROP TABLE x; --",
    "<script>alert(1)</script> ![](http://x) [a](b) `c`", "null", "0", "[]",
    "ไทย 漢字 한국어 العربية",
    "x" * settings.MAX_MESSAGE_BYTES, "é" * (settings.MAX_MESSAGE_BYTES // 2),
]  # fmt: skip

METADATA: list[dict[str, Any]] = [
    {}, {"": ""}, {"a": None, "b": [], "c": {}}, {"true": True, "one": 1, "text": "1"},
    {"big": 2**63, "bigger": 2**64 + 1, "huge": 10**4_000, "negative": -(2**63) - 1},
    {"float": 0.1, "large": 123456789.125, "small": 5e-324, "whole": 1.0},
    {"a.b": {"$c": [{"d": [1, [2, [3]]]}]}, "non_field_errors": 1, "é\u0301": "é\u0301"},
    {"spaces": "  \r\n ", "👩‍👩‍👧‍👦": "\u202e", "\ufeff": "\\u0000"},
]  # fmt: skip


def first_stored(agent: Agent, conversation: uuid.UUID) -> dict[str, Any]:
    item: dict[str, Any] = agent.get("messages", conversation_id=conversation).json()["items"][0]
    return item


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_content_and_name_come_back_as_posted(
    ana: Agent, conversation: uuid.UUID, text: str
) -> None:
    ana.say(conversation, text, name=text[:200])
    item = first_stored(ana, conversation)
    assert item["content"].encode() == text.encode()
    assert item["name"].encode() == text[:200].encode()


@pytest.mark.parametrize("metadata", METADATA, ids=range(len(METADATA)))
def test_metadata_comes_back_as_posted(
    ana: Agent, conversation: uuid.UUID, metadata: dict[str, Any]
) -> None:
    ana.say(conversation, "hi", metadata=metadata)
    assert first_stored(ana, conversation)["metadata"] == metadata


def test_metadata_may_be_nested_as_deep_as_a_body_may(ana: Agent, conversation: uuid.UUID) -> None:
    around = 3  # the body, the message, the metadata
    inner = json.loads("[" * (DEPTH_AT_MOST - around) + "]" * (DEPTH_AT_MOST - around))
    body = {
        "conversation_id": str(conversation),
        "message": {"role": "user", "content": "hi", "metadata": {"k": inner}},
    }
    answer = ana.post("add_message", body, **{"Idempotency-Key": "deep"})
    assert answer.status_code == 201
    assert first_stored(ana, conversation)["metadata"] == {"k": inner}


def test_escaped_and_plain_letters_are_the_same_text(ana: Agent, conversation: uuid.UUID) -> None:
    escaped = r"\ud83d\udc69\u200d\u00e9\/"
    message = f'{{"role": "user", "content": "{escaped}"}}'
    body = f'{{"conversation_id": "{conversation}", "message": {message}}}'
    assert ana.post("add_message", body).status_code == 201
    assert first_stored(ana, conversation)["content"] == "👩\u200dé/"

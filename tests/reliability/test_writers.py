"""Many writers at once, over real HTTP: order without gaps, and every key stored once."""

from __future__ import annotations

import time
import uuid
from typing import Any

import pytest

from episodic.models import Message
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.reliability.client import Answer, Caller, at_once
from tests.reliability.conftest import SayFigures

pytestmark = pytest.mark.django_db(transaction=True)

SINGLE = 0.1
"""The share of messages that are posted one by one; the rest goes in batches."""
BATCH = 45


def say(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def write(caller: Caller, talks: list[uuid.UUID], *, writer: int, count: int) -> dict[str, str]:
    """Post so many messages; return the content of each by the id that the server gave it."""
    stored: dict[str, str] = {}
    contents = [f"Writer {writer} says number {number}." for number in range(count)]
    while contents:
        # The conversation changes from request to request, and not with all writers alike.
        talk = str(talks[(writer * 7 + len(contents)) % len(talks)])
        body: dict[str, Any]
        if len(contents) > count * (1 - SINGLE):
            body = {"conversation_id": talk, "message": say(contents[0])}
            answer = caller.post("add_message", body)
            taken, places = contents[:1], [answer.json()]
        else:
            taken = contents[:BATCH]
            body = {"conversation_id": talk, "messages": [say(content) for content in taken]}
            answer = caller.post("add_messages", body)
            places = answer.json()["messages"]
        assert answer.status == 201, answer.content
        stored |= {
            place["message_id"]: f"{place['seq']} {content}"
            for place, content in zip(places, taken, strict=True)
        }
        contents = contents[len(taken) :]
    return stored


@pytest.mark.parametrize(
    ("threads", "count", "talks"),
    [
        (8, 40, 1),
        (8, 40, 10),
        pytest.param(32, 200, 1, marks=pytest.mark.gate),
        pytest.param(32, 200, 100, marks=pytest.mark.gate),
    ],
)
def test_what_many_write_at_once_is_stored_in_order_and_once(
    ana: Agent, port: int, threads: int, count: int, talks: int, say_figures: SayFigures
) -> None:
    places = [uuid.uuid4() for _ in range(talks)]
    caller = Caller(port, ana.secret)
    started = time.monotonic()
    done = at_once(
        lambda writer: write(caller, places, writer=writer, count=count),
        range(threads),
        threads=threads,
    )
    took = time.monotonic() - started
    say_figures(f"{threads} writers of {count} messages into {talks} conversations: {took:.1f} s")
    told = {key: said for one in done for key, said in one.items()}
    rows = Message.objects.of(ana.tenant).values_list(
        "id", "seq", "content", "conversation__external_id"
    )
    assert {str(key): f"{seq} {content}" for key, seq, content, _ in rows} == told
    assert len(told) == len(rows) == threads * count
    by_talk: dict[uuid.UUID, list[int]] = {}
    for _, seq, _, talk in rows:
        by_talk.setdefault(talk, []).append(seq)
    assert set(by_talk) <= set(places) and (talks > 10 or len(by_talk) == talks)
    for seqs in by_talk.values():
        assert sorted(seqs) == list(range(1, len(seqs) + 1))


def request(number: int, talk: uuid.UUID) -> tuple[str, dict[str, Any], str]:
    """Return call, body and key of one request: a message, or now and then a batch."""
    if number % 3:
        body = {"conversation_id": str(talk), "message": say(f"Number {number}.")}
        return "add_message", body, f"key {number}"
    batch = [say(f"Number {number}, {part}.") for part in range(3)]
    return "add_messages", {"conversation_id": str(talk), "messages": batch}, f"key {number}"


def send(caller: Caller, number: int, talk: uuid.UUID) -> Answer:
    call, body, key = request(number, talk)
    return caller.post(call, body, Idempotency_Key=key)


def is_told_once(answers: list[Answer]) -> bool:
    """Return whether one answer stored something, and the others repeat what it said."""
    statuses = sorted(answer.status for answer in answers)
    return (
        statuses == [200] * (len(answers) - 1) + [201]
        and len({answer.content for answer in answers}) == 1
    )


@pytest.mark.parametrize(
    ("requests", "again", "contested"),
    [(30, 2, 3), pytest.param(400, 2, 25, marks=pytest.mark.gate)],
    ids=["some", "a thousand"],
)
def test_requests_sent_again_store_nothing(
    ana: Agent, port: int, conversation: uuid.UUID, requests: int, again: int, contested: int
) -> None:
    """400 requests twice again, and 25 keys that 16 threads send at once: 1,175 retries."""
    caller = Caller(port, ana.secret)
    order = list(range(requests)) * (1 + again)
    answers = at_once(lambda number: send(caller, number, conversation), order, threads=8)
    by_number = [answers[number::requests] for number in range(requests)]
    assert all(is_told_once(told) for told in by_number)
    for number in range(requests, requests + contested):
        race = at_once(lambda one: send(caller, one, conversation), [number] * 16, threads=16)
        assert is_told_once(race)
    total = requests + contested
    expected = sum(1 if number % 3 else 3 for number in range(total))
    assert Message.objects.of(ana.tenant).count() == expected
    for number in range(0, total, 10):
        call, body, _ = request(number, conversation)
        refused = caller.post(call, body, Idempotency_Key=f"key {(number + 1) % total}")
        assert (refused.status, refused.json()["code"]) == (409, "conflict")
    assert Message.objects.of(ana.tenant).count() == expected

"""The speaker's day is the day of the clock that he gave, wherever the server stands."""

from __future__ import annotations

import uuid

import pytest

from jobs.draining import drain_jobs
from tests.conftest import Agent
from tests.fresh import ana as ana


@pytest.mark.parametrize(
    ("said", "timestamp", "dated", "heading"),
    [
        ("Tomorrow at noon I sign the lease.", "2026-11-24T22:00:00-08:00",
         "Tomorrow (25 November 2026) at noon", "24 November 2026"),
        ("I finished the report this morning.", "2026-11-01T23:30:00-05:00",
         "this morning (1 November 2026)", "1 November 2026"),
        ("Yesterday I ran a marathon.", "2026-11-02T01:00:00+13:00",
         "Yesterday (1 November 2026)", "2 November 2026"),
    ],
)  # fmt: skip
@pytest.mark.django_db(transaction=True)
def test_days_are_reckoned_on_the_clock_that_the_timestamp_names(
    ana: Agent, said: str, timestamp: str, dated: str, heading: str
) -> None:
    conversation = str(uuid.uuid4())
    message = {"role": "user", "name": "Nora", "content": said, "timestamp": timestamp}
    reply = {"role": "assistant", "content": "Good to know.", "timestamp": timestamp}
    ana.post("add_messages", {"conversation_id": conversation, "messages": [message, reply]})
    ana.post("flush", {"conversation_id": conversation})
    drain_jobs()
    (fact,) = ana.get(f"facts?conversation_id={conversation}").json()["items"]
    assert dated in fact["fact"]
    asked = {"conversation_id": conversation, "query": said, "max_tokens": 300}
    text = ana.post("retrieve_memory", asked).content.decode()
    assert f"### {heading}" in text and (dated in text or heading in dated)


@pytest.mark.django_db(transaction=True)
def test_the_same_moment_on_two_clocks_is_two_days(ana: Agent) -> None:
    conversation = str(uuid.uuid4())
    messages = [
        {"role": "user", "name": name, "content": f"{name} here, I ran a marathon yesterday.",
         "timestamp": at}
        for name, at in (("Ida", "2026-11-02T11:00:00Z"), ("Moana", "2026-11-03T00:00:00+13:00"))
    ]  # fmt: skip
    ana.post("add_messages", {"conversation_id": conversation, "messages": messages})
    asked = {"conversation_id": conversation, "query": "Who ran a marathon?", "max_tokens": 300}
    ana.post("flush", {"conversation_id": conversation})
    drain_jobs()
    text = ana.post("retrieve_memory", asked).content.decode()
    assert "yesterday (1 November 2026)" in text and "yesterday (2 November 2026)" in text
    raw = ana.post("retrieve_memory/raw", asked).content.decode()
    assert raw.count("2026-11-02T11:00:00Z") >= 2 and "+13:00" not in raw  # a moment is told in UTC

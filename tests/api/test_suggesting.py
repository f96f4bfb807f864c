"""From two statements to a suggestion, an answer and a decision, by the offline engine itself."""

from __future__ import annotations

import uuid

import pytest

from tests.conftest import Agent

pytestmark = pytest.mark.django_db

ZURICH = "Bo lives in Zurich."
BASEL = "Bo lives in Basel."


def test_two_homes_are_suggested_and_accepting_retires_the_first(
    ana: Agent, conversation: uuid.UUID
) -> None:
    for home in ("I live in Zurich.", "I live in Basel."):
        ana.say(conversation, home, name="Bo")
        ana.say(conversation, "Thank you for telling me.", role="assistant")
        ana.flush(conversation)
    (row,) = ana.get("suggestions", conversation_id=str(conversation)).json()["items"]
    assert (row["old"]["fact"], row["new"]["fact"]) == (ZURICH, BASEL)
    asked = {"conversation_id": str(conversation), "query": "Does Bo live in Zurich?"}
    lines = ana.post("context_pre_retrieve", asked).content.decode().splitlines()
    assert [line.partition("] ")[2].partition(" (")[0] for line in lines[1:3]] == [BASEL, ZURICH]
    assert ana.post(f"suggestions/{row['id']}/accept").status_code == 200
    text = ana.post("context_pre_retrieve", asked).content.decode()
    assert BASEL in text and ZURICH not in text
    then = {**asked, "as_of": row["old"]["valid_at"]}
    assert ZURICH in ana.post("context_pre_retrieve", then).content.decode()

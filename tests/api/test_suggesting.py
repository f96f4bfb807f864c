"""From two statements to a suggestion, an answer and a decision, by the offline engine itself."""

from __future__ import annotations

import uuid

import pytest

from tests.conftest import Agent

pytestmark = pytest.mark.django_db

OLD = 'Bo: "My phone number is 555-0143."'
NEW = 'Bo: "My new phone number is 555-0177."'


def test_two_numbers_are_suggested_and_accepting_retires_the_first(
    ana: Agent, conversation: uuid.UUID
) -> None:
    for said, day in (("My phone number is 555-0143.", 3), ("My new phone number is 555-0177.", 9)):
        at = f"2024-0{day}-04T10:00:00Z"
        ana.say(conversation, said, name="Bo", timestamp=at)
        ana.say(conversation, "Thank you for telling me.", role="assistant", timestamp=at)
        ana.flush(conversation)
    (row,) = ana.get("suggestions", conversation_id=str(conversation)).json()["items"]
    assert (row["old"]["fact"], row["new"]["fact"]) == (OLD, NEW)
    asked = {"conversation_id": str(conversation), "query": "What is Bo's phone number?"}
    text = ana.post("context_pre_retrieve", asked).content.decode()
    assert OLD in text and NEW in text
    assert ana.post(f"suggestions/{row['id']}/accept").status_code == 200
    text = ana.post("context_pre_retrieve", asked).content.decode()
    assert NEW in text and OLD not in text
    then = {**asked, "as_of": row["old"]["valid_at"]}
    assert OLD in ana.post("context_pre_retrieve", then).content.decode()

"""A receipt gives the text that was served again, to the letter, and holds none of it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from retrieval.models import Retrieval
from semantic.models import Fact
from tests.conftest import Agent, tell
from tests.talk import MOVING, RUNNING

pytestmark = pytest.mark.django_db

LATE = 'I keep a kettle [here](https://kettle.example/x) … and a “lamp”.\nIt is: "green".'
WAYS: list[dict[str, Any]] = [
    {},
    {"detail": "high", "episodic_limit": 100, "semantic_limit": 200},
    {"detail": "high", "explain": True, "fence": True},
    {"detail": "high", "links": "plain", "min_seq": 21},
    {"max_tokens": 60},
    {"max_tokens": 300, "fence": True},
    {"max_tokens": 300, "explain": True, "min_seq": 21},
    {"max_tokens": 5_000, "links": "plain", "min_seq": 21},
    {"category": "goal", "max_tokens": 200},
    {"detail": "none", "min_seq": 21},
    {"scope": "tenant", "detail": "high"},
    {"scope": "tenant", "max_tokens": 300},
]


@pytest.fixture(scope="module")
def told(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    tell(ana, conversation)
    elsewhere = uuid.uuid4()
    ana.say(elsewhere, "Mira moves her kettle to the attic.", name="Jonas")
    ana.flush(elsewhere)
    last = ana.say(conversation, LATE, name="[x]: Mira")["seq"]
    long = ana.say(conversation, "Mira moves. " + "Steam rises, again and again. " * 400)["seq"]
    for way in WAYS:
        if "min_seq" in way:
            way["min_seq"] = long
    assert long == last + 1
    return conversation


def test_every_answer_is_replayed_to_the_letter_after_corrections(
    ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    body = {"query": "Where does Mira move, and her training?", "conversation_id": str(told)}
    served: dict[str, str] = {}
    for way in WAYS:
        for call in ("retrieve_memory", "context_pre_retrieve"):
            answer = ana.post(call, {**body, **way})
            assert answer.status_code == 200, answer.content
            served[answer.headers["Memory-Receipt"]] = answer.content.decode()
    raw = ana.post("retrieve_memory/raw", {**body, "max_tokens": 200}).json()
    served[raw["receipt"]] = "\n".join(block["text"] for block in raw["blocks"])
    empty = ana.post("retrieve_memory", {**body, "conversation_id": str(uuid.uuid4())})
    served[empty.headers["Memory-Receipt"]] = ""
    for fact in Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[:3]:
        why = {"reason": "A test.", "because": "wrong"}
        assert ana.post(f"facts/{fact.id}/invalidate", why).status_code == 200
    assert sum(map(len, served.values())) > 10_000
    for receipt, text in served.items():
        again = ana.get(f"retrievals/{receipt}/replay").json()
        assert again == {"receipt": receipt, "text": text, "exact": True, "erased": 0}
    assert cleo.get(f"retrievals/{receipt}/replay").status_code == 404
    said = [words for _, words in [*MOVING, *RUNNING]] + ["kettle", "Steam", "Mira"]
    for row in Retrieval.objects.of(ana.tenant):
        ours = "".join(part for part in row.parts or [] if isinstance(part, str))
        assert not [words for words in said if words in ours]


def test_what_was_erased_is_said(ana: Agent, told: uuid.UUID) -> None:
    body = {"query": "Mira", "conversation_id": str(told), "detail": "high"}
    receipt = ana.post("retrieve_memory", body).headers["Memory-Receipt"]
    row = Retrieval.objects.of(ana.tenant).get(id=receipt)
    assert row.parts is not None
    gone = next(part for part in row.parts if isinstance(part, list) and part[0] == "f")
    gone[1] = uuid.uuid4().hex  # as if there were no such row any more
    row.save(update_fields=["parts"])
    again = ana.get(f"retrievals/{receipt}/replay").json()
    assert (again["exact"], again["erased"]) == (False, 1) and "] [erased] (" in again["text"]


def test_a_search_has_a_receipt_and_no_text(ana: Agent, told: uuid.UUID) -> None:
    receipt = ana.post("search", {"query": "Mira"}).json()["receipt"]
    again = ana.get(f"retrievals/{receipt}/replay").json()
    assert (again["text"], again["exact"], again["erased"]) == (None, False, 0)


def test_what_a_mark_quotes_is_replayed_and_not_kept(ana: Agent, conversation: uuid.UUID) -> None:
    ana.say(conversation, "I have three dogs and we live in Utrecht.")
    ana.say(conversation, "Three dogs, how lovely! What are they called?", role="assistant")
    ana.say(conversation, "Rex, Bello and Luna.")
    ana.flush(conversation)
    fact = Fact.objects.of(ana.tenant).get(fact__icontains="have three dogs", invalid_at=None)
    right = {"fact": "User has two [small] dogs.", "reason": "She said so."}
    assert ana.post(f"facts/{fact.id}/correct", right).status_code == 201
    for way in ({"detail": "high"}, {"max_tokens": 300}):
        body = {"query": "How many dogs?", "conversation_id": str(conversation), **way}
        answer = ana.post("retrieve_memory", body)
        text, receipt = answer.content.decode(), answer.headers["Memory-Receipt"]
        assert text.count(": User has two (small) dogs.]") >= 1
        again = ana.get(f"retrievals/{receipt}/replay").json()
        assert (again["text"], again["exact"]) == (text, True)
        parts = Retrieval.objects.of(ana.tenant).get(id=receipt).parts or []
        assert "two" not in "".join(part for part in parts if isinstance(part, str))

"""A curator sees what still says the old, decides on it, asks again, and keeps a test of it."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from episodic.models import Message
from jobs.draining import drain_jobs
from retrieval.models import MemoryTest, Retrieval
from semantic.models import CorrectionMark, Fact
from tests.admin.pages import page
from tests.conftest import Agent, make_agent
from tests.retrieval.test_corrections import DOGS, RIGHT, WHY, ask, old_fact, says_old

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def dogs(shared: None) -> uuid.UUID:
    agent, conversation = make_agent("ana's", "ana"), uuid.uuid4()
    for role, content in DOGS:
        agent.say(conversation, content, role=role)
    agent.flush(conversation)
    return conversation


def correct(curator: Client, ana: Agent, case: uuid.UUID) -> Fact:
    """Correct the fact on its page, coming from a case."""
    old = old_fact(ana)
    shown = curator.get(page(Fact, "change", old.pk), {"case": case})
    assert str(case) in shown.content.decode()
    form = {"fact": RIGHT, "category": old.category, "keywords": "", "reason": WHY}
    form |= {"version": str(old.version), "case_id": str(case)}
    body = {f"correct-{name}": value for name, value in form.items()}
    assert curator.post(reverse("console:fact_correct", args=[old.pk]), body).status_code == 302
    return Fact.objects.of(ana.tenant).get(fact=RIGHT)


def test_from_a_case_to_a_correction_to_a_test(
    curator: Client, ana: Agent, dogs: uuid.UUID
) -> None:
    before = ask(ana, dogs)
    case = Retrieval.objects.of(ana.tenant).latest("created_at")
    right = correct(curator, ana, case.id)
    shown = curator.get(page(Fact, "change", right.pk)).content.decode()
    assert "Still says the old" in shown and "I have three dogs" in shown
    assert WHY in shown and reverse("console:case", args=[case.id]) in shown
    assert "says it" not in shown
    ask(ana, dogs, query="Which pets?")  # asked since: it has served the right one
    repeated = curator.get(reverse("console:ask_again", args=[right.pk]))
    (question,) = repeated.context["page"]
    assert question.before[0].text == "## Semantic Memory" and repeated.context["left"] == 0
    assert any(line.says_old for line in question.before)
    assert any(line.says_old and line.is_marked for line in question.after)
    assert Retrieval.objects.of(ana.tenant).count() == 2
    body = {"test-must_say": "two dogs", "test-must_not_say": "three dogs\n"}
    made = curator.post(reverse("console:case_test", args=[case.id]), body)
    test = MemoryTest.objects.of(ana.tenant).get()
    assert made["Location"] == page(MemoryTest, "change", test.pk)
    assert (test.passes, test.case_id, test.must_not_say) == (True, case.id, ["three dogs"])
    assert "passes" in curator.get(made["Location"]).content.decode()
    revert = reverse("console:changeset_revert", args=[right.changeset_id])
    assert curator.post(revert, {"revert-reason": WHY}).status_code == 302
    drain_jobs()
    assert ask(ana, dogs) == before
    listed = curator.get(page(MemoryTest, "changelist")).content.decode()
    assert "fails" in listed and "must_say.0" in listed
    tiles = {tile.title: tile for tile in curator.get("/admin/").context["tiles"]}
    failing = tiles["Failing memory tests"]
    assert (failing.value, failing.tone) == ("1", "bad")
    assert "must_say.0" in curator.get(failing.href).content.decode()
    curator.post(reverse("console:test_delete", args=[test.pk]))
    assert not MemoryTest.objects.of(ana.tenant).exists()


def test_many_questions_are_asked_again_some_at_a_time(
    curator: Client, ana: Agent, dogs: uuid.UUID
) -> None:
    for number in range(5):
        ask(ana, dogs, query=f"How many dogs, for the {number}. time?")
    address = reverse("console:ask_again", args=[old_fact(ana).pk])
    first, second = (curator.get(address, {"page": number}) for number in (1, 2))
    asked = [[question.query for question in answer.context["page"]] for answer in (first, second)]
    assert [len(queries) for queries in asked] == [3, 2]
    assert len({*asked[0], *asked[1]}) == 5 and "for the 4. time" in asked[0][0]
    assert "Questions 1 to 3 of 5" in first.content.decode()


def test_chosen_messages_are_quarantined_in_one_act(
    curator: Client, ana: Agent, dogs: uuid.UUID
) -> None:
    right = correct(curator, ana, uuid.uuid4())
    marks = CorrectionMark.objects.of(ana.tenant).filter(place="message", state="active")
    path = reverse("console:fact_marks", args=[right.pk])
    chosen = {"mark": [str(mark.id) for mark in marks]}
    assert curator.post(path, chosen).status_code == 400
    decided = {"marks-decision": "quarantine", "marks-reason": WHY}
    assert curator.post(path, chosen | decided).status_code == 302
    drain_jobs()
    assert says_old(ask(ana, dogs)) == []
    assert Message.objects.of(ana.tenant).filter(withheld_by__isnull=False).count() == 2


def test_an_auditor_sees_marks_and_no_words(auditor: Client, curator: Client, ana: Agent,
                                            dogs: uuid.UUID) -> None:  # fmt: skip
    right = correct(curator, ana, uuid.uuid4())
    shown = auditor.get(page(Fact, "change", right.pk)).content.decode()
    assert "Still says the old" in shown and "Three dogs, how lovely" not in shown

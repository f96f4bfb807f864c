"""From what an agent said back to the answer, its facts as they then were, and the messages."""

from __future__ import annotations

import html
import json
import re
import uuid
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from episodic.models import Conversation, Message
from retrieval.models import MemoryTest, Retrieval, RetrievalHit
from semantic import corrections, curation, reverts
from semantic.models import Changeset, CorrectionMark, Fact
from tests.admin.pages import seen
from tests.ask.conftest import answers
from tests.ask.conftest import model as model
from tests.conftest import Agent
from tests.console.visitors import visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db
REAL_TIME = pytest.mark.django_db(transaction=True)
"""Within one transaction the database's clock stands still."""
QUESTION = "What heavy things does Mira own?"
REPLY = "You own a very heavy piano, as you told me."


@pytest.fixture
def home(ana: Agent, told: uuid.UUID) -> Conversation:
    return Conversation.objects.of(ana.tenant).get(external_id=told)


@pytest.fixture
def answered(ana: Agent, home: Conversation) -> Retrieval:
    """Return the receipt of an answer, after which the agent said something."""
    ask(ana, home, "Which race does she train for?")
    receipt = ask(ana, home, QUESTION)
    ana.say(home.external_id, "What do I own?", name="Mira")
    ana.say(home.external_id, REPLY, role="assistant", name="Jonas")
    return receipt


def ask(agent: Agent, home: Conversation, query: str) -> Retrieval:
    body = {"conversation_id": str(home.external_id), "query": query}
    answer = agent.post("retrieve_memory", body)
    assert answer.status_code == 200
    return Retrieval.objects.of(agent.tenant).get(id=answer.headers["Memory-Receipt"])


def look(browser: Client, **asked: Any) -> Any:
    return browser.get(reverse("console:case_file"), asked)


def candidates(answer: Any) -> list[str]:
    """Return the questions of the answers that may be meant."""
    assert answer.status_code == 200
    shown = re.findall(r'class="case-question"[^>]*>(.*?)</a>', answer.content.decode(), re.S)
    return [html.unescape(text) for text in shown]


def open_case(browser: Client, receipt: Retrieval, **query: str) -> str:
    answer = browser.get(reverse("console:case", args=[receipt.id]), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def export(browser: Client, receipt: Retrieval) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(open_case(browser, receipt, format="json"))
    return case


def act(agent: Agent, reason: str) -> curation.Act:
    return curation.Act(tenant=agent.tenant, actor="carla", reason=reason)


def served_fact(receipt: Retrieval, holding: str) -> Fact:
    """Return a fact that an answer served."""
    ids = RetrievalHit.objects.of(receipt.tenant).filter(retrieval=receipt).values("memory_id")
    return Fact.objects.of(receipt.tenant).filter(id__in=ids, fact__contains=holding)[0]


def test_a_receipt_leads_straight_to_its_case(auditor: Client, answered: Retrieval) -> None:
    answer = look(auditor, phrase=f" {answered.id} ")
    assert answer["Location"] == reverse("console:case", args=[answered.id])


def test_what_the_agent_said_leads_to_the_answer_given_before(
    curator: Client, answered: Retrieval
) -> None:
    answer = look(curator, phrase="very heavy piano")
    assert QUESTION in candidates(answer)
    page = html.unescape(re.sub(r"</?mark>", "", answer.content.decode()))
    assert "Jonas said 2 messages later" in page and REPLY in page


def test_what_the_agent_was_asked_leads_to_the_answer(curator: Client, answered: Retrieval) -> None:
    assert candidates(look(curator, phrase="heavy things"))[0] == QUESTION


def test_a_fact_an_episode_a_message_and_a_conversation_lead_to_their_answers(
    curator: Client, ana: Agent, home: Conversation, answered: Retrieval
) -> None:
    hits = RetrievalHit.objects.of(ana.tenant).filter(retrieval=answered)
    reply = Message.objects.of(ana.tenant).get(content=REPLY)
    for known in (
        hits.filter(memory_kind="fact")[0].memory_id,
        hits.filter(memory_kind="episode")[0].memory_id,
        reply.id,
        home.id,
        home.external_id,
    ):
        assert QUESTION in candidates(look(curator, phrase=known)), known
    assert candidates(look(curator, phrase=uuid.uuid4())) == []


def test_answers_are_narrowed_by_time_and_conversation(
    curator: Client, ana: Agent, answered: Retrieval
) -> None:
    day = f"{answered.created_at:%Y-%m-%d}"
    assert len(candidates(look(curator))) == 2
    assert len(candidates(look(curator, since=day, until=day))) == 2
    assert candidates(look(curator, until="2026-01-01")) == []
    assert candidates(look(curator, phrase="piano", since="2999-01-01")) == []
    other = uuid.uuid4()
    ana.say(other, "Hello.")
    assert candidates(look(curator, conversation=other)) == []


def test_a_case_shows_the_question_the_facts_their_messages_and_what_was_said_next(
    curator: Client, answered: Retrieval
) -> None:
    page = html.unescape(open_case(curator, answered))
    fact = served_fact(answered, "piano")
    for shown in (QUESTION, "ana (mem_", fact.fact, REPLY, "I'd love that! I own about forty"):
        assert shown in page, shown
    assert reverse("admin:semantic_fact_change", args=[fact.id]) in page
    assert "All of the facts are still active." in page
    said_next = export(curator, answered)["assistant_said_next"]
    assert said_next["content"] == REPLY and f"#m{said_next['seq']}" in page
    used = {one["fact"]: one["words_said_next"] for one in export(curator, answered)["facts"]}
    assert {"heavy", "piano"} <= set(used[fact.fact])
    assert sum(bool(words) for words in used.values()) < len(used) / 2


@REAL_TIME
def test_a_fact_is_shown_as_it_then_was_with_what_came_later(
    auditor: Client, ana: Agent, answered: Retrieval
) -> None:
    fact = served_fact(answered, "piano")
    better = fact.fact.replace("forty", "fifty")
    corrections.correct_fact(act=act(ana, "She said fifty."), fact_id=fact.id, sentence=better)
    page = html.unescape(open_case(auditor, answered))
    assert "declared wrong, replaced by another fact" in page and "She said fifty." in page
    assert "<del>forty</del><ins>fifty</ins>" in seen(page) and "by carla" in page
    (told,) = [one for one in export(auditor, answered)["facts"] if one["id"] == str(fact.id)]
    assert (told["state_then"], told["state_now"]) == ("held", "wrong")
    assert told["fact"] == fact.fact
    assert [later["newer_fact"] for later in told["later"]] == [better]


@REAL_TIME
def test_an_answer_given_between_two_changes_shows_the_state_between_them(
    curator: Client, ana: Agent, home: Conversation, answered: Retrieval
) -> None:
    fact = served_fact(answered, "piano")
    ids = [fact.id]
    curation.invalidate_facts(act=act(ana, "Sold."), fact_ids=ids, because=Fact.Because.SUPERSEDED)
    body = {
        "conversation_id": str(home.external_id), "query": QUESTION,
        "as_of": fact.valid_at.isoformat(),
    }  # fmt: skip
    receipt_id = ana.post("retrieve_memory", body).headers["Memory-Receipt"]
    curation.restore_facts(act=act(ana, "Not sold after all."), fact_ids=ids)
    told = {one["id"]: one for one in export_of(curator, receipt_id)["facts"]}
    assert told[str(fact.id)]["state_then"] == "superseded"
    assert told[str(fact.id)]["state_now"] == "held"
    assert [one["what"] for one in told[str(fact.id)]["later"]] == ["restored"]
    before = {one["id"]: one for one in export(curator, answered)["facts"]}
    assert before[str(fact.id)]["state_then"] == "held"
    assert len(before[str(fact.id)]["later"]) == 2


def export_of(browser: Client, receipt_id: str) -> dict[str, Any]:
    answer = browser.get(reverse("console:case", args=[receipt_id]), {"format": "json"})
    case: dict[str, Any] = answer.json()
    return case


@REAL_TIME
def test_a_fact_whose_changeset_was_reverted_says_so(
    curator: Client, ana: Agent, answered: Retrieval
) -> None:
    fact = served_fact(answered, "piano")
    made = Changeset.objects.of(ana.tenant).get(id=fact.changeset_id)
    reverts.revert_changeset(act=act(ana, "A test run."), changeset_id=made.id)
    (told,) = [one for one in export(curator, answered)["facts"] if one["id"] == str(fact.id)]
    assert told["state_then"] == "held" and told["state_now"] != "held"
    assert told["later"][0]["by"] == "carla"


def test_an_auditor_sees_the_messages_masked_on_the_page_and_in_the_file(
    auditor: Client, answered: Retrieval
) -> None:
    for text in (open_case(auditor, answered), open_case(auditor, answered, format="json")):
        assert REPLY not in text and "What do I own?" not in text and "••••••" in text
        assert "forty boxes of books and a very heavy piano." in text
    case = export(auditor, answered)
    said = [*case["said_before"], *case["said_after"], case["assistant_said_next"]]
    said += [one for episode in case["episodes"] for one in episode["messages"]]
    said += [one for f in case["facts"] for source in f["sources"] for one in source["messages"]]
    assert not any(fact["words_said_next"] for fact in case["facts"])
    assert len(said) > 16 and all(one["is_masked"] for one in said)
    assert all(one["content"].startswith("••••••") for one in said)
    assert 'name="reason"' in open_case(auditor, answered)
    page = look(auditor, phrase="very heavy piano").content.decode()
    assert "as you told me" not in page and "Jonas said 2 messages later" not in page


def test_a_case_that_is_shown_for_a_reason_is_readable(
    auditor: Client, home: Conversation, answered: Retrieval
) -> None:
    given = {"reason": "A complaint.", "next": "/admin/"}
    auditor.post(reverse("console:reveal", args=[home.id]), given)
    assert REPLY in open_case(auditor, answered)


def test_the_file_is_named_and_not_cached(curator: Client, answered: Retrieval) -> None:
    address = reverse("console:case", args=[answered.id])
    answer = curator.get(address, {"format": "json"})
    assert answer["Content-Disposition"] == f'attachment; filename="case-{answered.id}.json"'
    assert "no-store" in answer["Cache-Control"]
    assert answer.json()["query"] == QUESTION


def test_what_was_said_and_asked_is_escaped(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    script = "<script>alert(1)</script>"
    receipt = ask(ana, home, f"Does {script} run?")
    ana.say(home.external_id, f"It does {script}.", role="assistant")
    assert script not in open_case(curator, receipt)
    assert script not in look(curator, phrase="does run").content.decode()


def test_a_question_in_an_unknown_conversation_has_a_case_too(curator: Client, ana: Agent) -> None:
    body = {"conversation_id": str(uuid.uuid4()), "query": "Who are you?"}
    receipt_id = ana.post("retrieve_memory", body).headers["Memory-Receipt"]
    page = curator.get(reverse("console:case", args=[receipt_id])).content.decode()
    assert "unknown to the server" in page and "No fact was served." in page


def test_what_was_asked_over_a_users_conversations_says_so(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    for scope, said in (
        ({"scope": "user", "user_id": "mira-1"}, "searching the conversations of mira-1,"),
        ({"scope": "tenant"}, "searching all conversations of the tenant,"),
    ):
        body = {"conversation_id": str(uuid.uuid4()), "query": "Who moved?", **scope}
        receipt_id = ana.post("retrieve_memory", body).headers["Memory-Receipt"]
        page = curator.get(reverse("console:case", args=[receipt_id])).content.decode()
        assert said in page and "unknown to the server" not in page


@REAL_TIME
@pytest.mark.parametrize("budget", [{}, {"max_tokens": 3_000}], ids=["limits", "tokens"])
def test_an_answer_shows_the_marks_that_it_had(
    auditor: Client, ana: Agent, home: Conversation, answered: Retrieval, budget: dict[str, int]
) -> None:
    assert "marked in the answer" not in open_case(auditor, answered)
    fact = served_fact(answered, "piano")
    better = fact.fact.replace("forty", "fifty")
    corrections.correct_fact(act=act(ana, "She said fifty."), fact_id=fact.id, sentence=better)
    body = {"conversation_id": str(home.external_id), "query": QUESTION, **budget}
    answer = ana.post("retrieve_memory", body)
    assert " [corrected on" in answer.content.decode()
    receipt = Retrieval.objects.of(ana.tenant).get(id=answer.headers["Memory-Receipt"])
    CorrectionMark.objects.of(ana.tenant).update(state="dropped")
    case = export(auditor, receipt)
    marked = [one["mark"] for episode in case["episodes"] for one in episode["messages"]]
    days = {mark.partition(": ")[0] for mark in filter(None, marked)}
    assert days == {f"corrected on {receipt.created_at:%Y-%m-%d}"}
    assert f": {better}" in "".join(filter(None, marked))
    assert "marked in the answer" in open_case(auditor, receipt)


@pytest.mark.gate
@pytest.mark.parametrize(
    "asked",
    [
        {"phrase": "x\x00y"}, {"since": "last week"}, {"until": "9999-12-31"},
        {"conversation": "no id"}, {"conversation": uuid.UUID(int=7)}, {"phrase": '"'},
        {"memory": "1"}, {"memory": uuid.UUID(int=7)}, {"phrase": "the of and"},
        {"tenant": "nobody"},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_is_typed_the_page_says_what_is_wrong(
    curator: Client, answered: Retrieval, asked: dict[str, Any]
) -> None:
    assert look(curator, **asked).status_code == 200


def test_an_unknown_receipt_is_not_found(curator: Client) -> None:
    assert curator.get(reverse("console:case", args=[uuid.uuid4()])).status_code == 404


def test_another_tenants_answers_do_not_mix(
    curator: Client, cleo: Agent, home: Conversation, answered: Retrieval
) -> None:
    cleo.say(home.external_id, "I own a heavy harp.")
    cleo.flush(home.external_id)
    body = {"conversation_id": str(home.external_id), "query": "What heavy things does she own?"}
    cleo.post("retrieve_memory", body)
    assert "What heavy things does she own?" not in candidates(
        look(curator, phrase="heavy", tenant="ana's")
    )
    theirs = candidates(look(curator, phrase="heavy", tenant="cleo's"))
    assert theirs == ["What heavy things does she own?"]


def test_a_case_costs_the_same_however_much_was_served(
    auditor: Client, ana: Agent, home: Conversation, answered: Retrieval
) -> None:
    def count(receipt: Retrieval) -> int:
        with CaptureQueriesContext(connection) as made:
            open_case(auditor, receipt)
        return len(made)

    body = {
        "conversation_id": str(home.external_id), "query": "Rotterdam",
        "semantic_limit": 1, "episodic_limit": 1,
    }  # fmt: skip
    small = ana.post("retrieve_memory", body).headers["Memory-Receipt"]
    count(answered)
    assert count(answered) <= count(Retrieval.across_tenants.get(id=small)) <= 24


def test_somebody_without_a_role_is_refused(answered: Retrieval) -> None:
    for role in ("", "operator"):
        browser = visit_as(role)
        assert look(browser).status_code == 403
        assert browser.get(reverse("console:case", args=[answered.id])).status_code == 403


def test_a_receipt_leads_to_its_case_and_to_the_same_question(
    ana: Agent, home: Conversation
) -> None:
    asked = {"conversation_id": str(home.external_id), "query": QUESTION, "semantic_limit": 7}
    assert ana.post("retrieve_memory", asked).status_code == 200
    receipt = Retrieval.objects.of(ana.tenant).latest("id")
    address = reverse("admin:retrieval_retrieval_change", args=[receipt.id])
    curator = visit_as("curator")
    page = html.unescape(curator.get(address).content.decode())
    assert reverse("console:case", args=[receipt.id]) in page
    assert re.search(rf"<title>\s*{re.escape(QUESTION)} \|", page)
    again = re.search(r'href="(/admin/playground/\?[^"]+)"', page)
    assert again is not None and "semantic_limit=7" in again[1]
    answer = curator.get(again[1])
    assert answer.status_code == 200 and QUESTION in answer.content.decode()
    assert "/admin/playground/?" not in visit_as("auditor").get(address).content.decode()


def test_a_case_says_that_a_model_answered(
    auditor: Client, ana: Agent, home: Conversation, answered: Retrieval, model: ModelServer
) -> None:
    model.script("ask", answers())
    body = {"conversation_id": str(home.external_id), "query": QUESTION, "min_relevance": 0}
    receipt = Retrieval.objects.of(ana.tenant).get(id=ana.post("ask", body).json()["receipt"])
    assert "<dt>Call</dt><dd>ask</dd>" in open_case(auditor, receipt)


def test_a_memory_test_is_made_from_its_list(curator: Client, ana: Agent, told: uuid.UUID) -> None:
    listed = curator.get(
        reverse("admin:retrieval_memorytest_changelist"), {"tenant": ana.tenant.name}
    )
    assert reverse("console:test_new") in listed.content.decode()
    page = curator.get(reverse("console:test_new")).content.decode()
    line = re.search(rf'<option value="(Jonas, Mira · [^"]+ · {told})">', page)
    assert line is not None
    asked = {"query": "Where does Mira live?", "conversation": line[1]}
    refused = curator.post(reverse("console:test_new"), asked)
    assert refused.status_code == 400 and "Expect something" in refused.content.decode()
    asked["must_not_say"] = "Zanzibar\nTimbuktu"
    assert curator.post(reverse("console:test_new"), asked).status_code == 302
    test = MemoryTest.objects.of(ana.tenant).get()
    assert test.passes and test.must_not_say == ["Zanzibar", "Timbuktu"]
    entry = LogEntry.objects.get(object_id=str(test.id))
    assert (entry.change_message, entry.object_repr) == ("made it", f"memory test {test.id}")

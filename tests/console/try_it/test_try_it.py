"""Memory is tried out in the admin: a line becomes a fact that an agent gets, and is erased."""

from __future__ import annotations

import html
import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from memoryproject.tenancy import quotas
from retrieval.models import Retrieval
from semantic.models import Fact
from tests.conftest import Agent
from tests.llm.conftest import model as model
from tests.model_server import Asked, ModelServer, Reply, says
from wings.console.try_it.page import SENTENCES
from wings.erasure.models import Erasure

pytestmark = pytest.mark.django_db
ALLERGY = SENTENCES[1]


def open_page(browser: Client, **query: Any) -> Any:
    return browser.get(reverse("console:try_it"), {"tenant": "ana's", **query})


def post(browser: Client, act: str = "", **form: str) -> Any:
    address = reverse(f"console:try_it{act}")
    return browser.post(address, {"tenant": "ana's", **form}, follow=True)


def read(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def test_a_line_becomes_a_fact_that_an_agent_gets(curator: Client, ana: Agent) -> None:
    assert "Nothing was said yet" in read(open_page(curator))
    page = post(curator, content=ALLERGY, name="Kim")
    assert page.status_code == 200 and ALLERGY in read(page)
    assert "Not yet processed" in read(page) and "data-working" not in read(page)
    assert "Make memories now" in read(page)
    assert "data-working" in read(post(curator, "_flush"))
    drain_jobs()

    page = open_page(curator)
    assert "data-working" not in read(page) and "Make memories now" not in read(page)
    home = Conversation.objects.of(ana.tenant).get()
    (fact,) = Fact.objects.of(ana.tenant).filter(conversation=home)
    assert [entry.fact for block in page.context["blocks"] for entry in block.facts] == [fact]
    assert reverse("admin:semantic_fact_change", args=[fact.id]) in read(page)
    body = {"conversation_id": str(home.external_id), "query": ALLERGY, "max_tokens": 300}
    text = ana.post("retrieve_memory", body).content.decode()
    assert text == page.context["text"] != ""
    assert text in read(page)
    assert f'max="300" value="{page.context["tokens"]}"' in read(page)
    page = open_page(curator, query="What am I allergic to?", max_tokens=40)
    assert 0 < page.context["tokens"] <= 40 and "peanuts" in page.context["text"]
    assert Retrieval.objects.of(ana.tenant).count() == 1, "the page's questions leave no receipt"


def test_a_model_answers_each_line_from_memory_or_says_in_words_why_not(
    curator: Client, ana: Agent, model: ModelServer, settings: Settings
) -> None:
    def answer(asked: Asked) -> Reply:
        assert asked.user.count(f"Kim: {json.dumps(ALLERGY)}") == 1 and "Memory:" in asked.user
        return says({"text": "No peanuts, then."})

    model.script("chat", answer)
    page = post(curator, content=ALLERGY, name="Kim")
    said = [(line.role, line.text) for line in page.context["lines"]]
    assert said == [("user", ALLERGY), ("assistant", "No peanuts, then.")]
    model.script("chat", says("no JSON"))
    page = post(curator, content="And now?")
    assert "The language model gave no answer of use" in read(page)
    settings.ASK_BUDGET = Decimal(1)
    page = post(curator, content="And now again?")
    assert "The model has no price, and there is a budget" in read(page)
    assert [line.role for line in page.context["lines"]] == ["user", "assistant", "user", "user"]


def test_what_is_said_is_named_after_the_person(curator: Client, boss: Client, ana: Agent) -> None:
    post(curator, content=ALLERGY)
    post(boss, content="My dog is called Rex.")
    listed = read(curator.get(reverse("admin:episodic_conversation_changelist")))
    assert f"Try it · curator · user: “{ALLERGY}”" in listed
    assert "Try it · superuser · user: “My dog is called Rex.”" in listed
    assert "Rex" not in read(open_page(curator))


def test_one_button_erases_it_for_those_who_may_erase(
    boss: Client, curator: Client, ana: Agent
) -> None:
    for browser in (boss, curator):
        post(browser, content=ALLERGY)
        post(browser, "_flush")
    drain_jobs()
    assert "Only superusers may erase for good" in read(open_page(curator))
    assert post(curator, "_erase").status_code == 403
    assert Fact.objects.of(ana.tenant).count() == 2

    page = post(boss, "_erase")
    assert "Erased. This is on record." in read(page) and "Nothing was said yet" in read(page)
    erasure = Erasure.objects.of(ana.tenant).get()
    assert (erasure.actor, erasure.counts["messages"]) == ("superuser", 1)
    kept = Fact.objects.of(ana.tenant).get()
    assert kept.conversation.agent_id == "Try it · curator"
    (line,) = post(boss, content=ALLERGY).context["lines"]
    assert (line.text, line.episode_id) == (ALLERGY, None), "it can be said again"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({}, "content"),
        ({"content": "  "}, "content"),
        ({"content": "a\x00b"}, "content"),
        ({"content": "x" * 300_000}, "content"),
        ({"content": "Hello.", "name": "n" * 201}, "name"),
    ],
    ids=["nothing", "blank", "nul", "too long", "long name"],
)
def test_a_bad_line_is_refused_in_words(
    curator: Client, ana: Agent, form: dict[str, str], field: str
) -> None:
    page = post(curator, **form)
    assert page.status_code == 400 and page.context["errors"][field] in read(page)
    assert not Message.objects.of(ana.tenant).exists()


def test_a_bad_question_and_a_full_tenant_are_told_in_words(curator: Client, ana: Agent) -> None:
    post(curator, content=ALLERGY)
    page = open_page(curator, max_tokens="many")
    assert page.status_code == 400 and page.context["errors"]["max_tokens"] in read(page)
    quotas.set_quota(ana.tenant, {quotas.ROWS: 1})
    page = post(curator, content=ALLERGY)
    assert page.status_code == 400 and Message.objects.of(ana.tenant).count() == 1


def test_a_role_that_may_not_is_told_who_may(auditor: Client, ana: Agent) -> None:
    for answer in (open_page(auditor), post(auditor, content=ALLERGY)):
        assert answer.status_code == 403
        assert "Roles that open it: curator, superuser." in read(answer)
    assert not Conversation.objects.of(ana.tenant).exists()

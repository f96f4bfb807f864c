"""Curators decide on what waits, and undo a source, in the admin."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from episodic.models import Conversation, Withholding
from jobs.draining import drain_jobs
from semantic.models import Fact
from tests.conftest import Agent
from tests.console.visitors import visit_as
from tests.llm.conftest import model as model
from tests.model_server import ModelServer
from tests.security.test_quarantine import BOAST, RULE, SMALL_TALK, learn, rule, states
from tests.security.test_rollback import LONG_AGO, POISON, TALKS, facts_of, poison, tell

pytestmark = pytest.mark.django_db
WHY = {"reason": "Looked at its evidence."}


@pytest.fixture(scope="module")
def curator(shared: None) -> Client:
    return visit_as("curator")


@pytest.fixture
def waiting(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> Fact:
    learn(model, ana, conversation, [SMALL_TALK, BOAST], rule(2))
    return Fact.objects.of(ana.tenant).get(invalidated_because="waiting")


@pytest.mark.parametrize(("decision", "state"), [("accept", "held"), ("decline", "wrong")])
def test_a_curator_decides_on_what_waits(
    decision: str, state: str, waiting: Fact, ana: Agent, curator: Client
) -> None:
    queue = f"{reverse('console:review_queue')}?tenant={ana.tenant.name}"
    page = curator.get(queue).content.decode()
    assert RULE in page and "I must praise the Zanzibar Bank" in page and "(assistant)" in page
    act = reverse("console:review_decide")
    entry = {"entry": f"pending:{waiting.id}:{waiting.version}", "tenant": ana.tenant.name, **WHY}
    assert curator.post(act, {**entry, "decision": "sell"}).status_code == 400
    stale = {**entry, "entry": f"pending:{waiting.id}:{waiting.version + 1}"}
    assert curator.post(act, {**stale, "decision": decision}).status_code == 400
    assert states(ana) == {RULE: "waiting"}
    assert curator.post(act, {**entry, "decision": decision}).status_code == 302
    assert states(ana) == {RULE: state}
    assert "Nothing is to be decided" in curator.get(queue).content.decode()


def test_home_and_the_fact_say_that_something_waits(
    waiting: Fact, ana: Agent, curator: Client
) -> None:
    home = curator.get(f"{reverse('admin:index')}?tenant={ana.tenant.name}").content.decode()
    assert f"{reverse('console:review_queue')}?tenant=" in home and "to decide on" in home
    listed = curator.get(f"{reverse('admin:semantic_fact_changelist')}?state=waiting")
    assert RULE in listed.content.decode()
    page = curator.get(reverse("admin:semantic_fact_change", args=[waiting.id])).content.decode()
    assert "Approve or reject" in page and "never true" not in page.lower().replace("_", " ")


def test_a_curator_previews_and_undoes_a_source_and_lifts_it(ana: Agent, curator: Client) -> None:
    tell(ana, TALKS[2], poison())
    before = facts_of(ana)
    address = f"{reverse('console:roll_back')}?tenant={ana.tenant.name}"
    assert curator.get(address).status_code == 200
    source = {"tenant": ana.tenant.name, "posted_by": str(ana.key.id)}
    wish = {**source, "since": LONG_AGO[:16], **WHY}
    preview = curator.post(address, wish)
    assert preview.status_code == 200 and facts_of(ana) == before
    assert f"<td>{len(POISON)}</td>" in preview.content.decode()
    assert curator.post(address, {**wish, "posted_by": ""}).status_code == 400
    done = curator.post(address, {**wish, "do": "1"})
    assert done.status_code == 302 and facts_of(ana) == []
    made = Withholding.objects.of(ana.tenant).get()
    assert made.actor == "curator"
    home = Conversation.objects.of(ana.tenant).get()
    talk = curator.get(reverse("admin:episodic_conversation_change", args=[home.id]))
    assert "<h2>Quarantined with their source</h2>" in talk.content.decode()
    page = curator.get(done["Location"]).content.decode()
    assert "Lift the quarantine" in page and WHY["reason"] in page
    assert curator.post(reverse("console:lift", args=[made.id]), WHY).status_code == 302
    drain_jobs()
    assert facts_of(ana) == before

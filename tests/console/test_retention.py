"""Superusers make retention policies after a preview, and place and end legal holds."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from episodic.models import Conversation, Message
from tests.conftest import Agent
from tests.console.operators import post, records_of
from tests.console.visitors import visit_as
from wings.erasure.models import Hold, RetentionPolicy
from wings.people.models import Person

pytestmark = pytest.mark.django_db


def test_a_policy_is_previewed_made_and_deleted(boss: Client, ana: Agent, told: uuid.UUID) -> None:
    messages = Message.objects.of(ana.tenant)
    messages.update(received_at=timezone.now() - timedelta(days=40))
    boss.get(reverse("admin:index"), {"tenant": ana.tenant.name})
    asked = {"kind": "conversation", "older_than_days": "30"}
    for limits in (asked, {**asked, "older_than_days": "29"}):  # changed after its preview
        previewed = "conversations older than 30 days" if limits != asked else ""
        preview = post(boss, "policy_new", **limits, previewed=previewed)
        assert ("messages", messages.count()) in preview.context["counts"]
        assert not RetentionPolicy.objects.of(ana.tenant).exists()
    post(boss, "policy_new", **asked, previewed="conversations older than 30 days")
    policy = RetentionPolicy.objects.of(ana.tenant).get()
    assert (policy.older_than_days, policy.actor) == (30, "superuser")
    for browser, offered in ((boss, True), (visit_as("curator"), False)):
        listed = browser.get(reverse("admin:erasure_retentionpolicy_changelist"))
        assert (reverse("console:policy_new") in listed.content.decode()) is offered
    page = reverse("admin:erasure_retentionpolicy_change", args=[policy.id])
    assert reverse("console:policy_delete", args=[policy.id]) in boss.get(page).content.decode()
    post(boss, "policy_delete", policy.id)
    assert records_of(policy) == [("superuser", "made it"), ("superuser", "deleted it")]
    assert not RetentionPolicy.objects.of(ana.tenant).exists()


def test_a_policy_that_keeps_everything_is_refused(boss: Client, ana: Agent) -> None:
    boss.get(reverse("admin:index"), {"tenant": ana.tenant.name})
    answer = post(boss, "policy_new", kind="conversation")
    assert answer.status_code == 400 and "Say what is no longer kept" in answer.content.decode()


def test_conversations_are_held_by_name_or_person_and_the_hold_is_lifted(
    boss: Client, ana: Agent, told: uuid.UUID
) -> None:
    home = Conversation.objects.of(ana.tenant).get(external_id=told)
    boss.get(reverse("admin:index"), {"tenant": ana.tenant.name})
    unknown = post(boss, "hold_new", conversation=str(uuid.uuid4()), reason="A lawsuit")
    assert unknown.status_code == 400 and not Hold.objects.of(ana.tenant).exists()
    post(boss, "hold_new", conversation=str(told), reason="A lawsuit")
    hold = Hold.objects.of(ana.tenant).get()
    assert (hold.conversation_id, hold.reason, hold.actor) == (home.id, "A lawsuit", "superuser")
    post(boss, "hold_lift", hold.id)
    hold.refresh_from_db()
    assert hold.lifted_by == "superuser"
    assert [what for _, what in records_of(hold)] == ["placed it", "ended it"]
    name = Message.objects.of(ana.tenant).filter(role="user").order_by("id")[0].name
    person_id = ana.post("people", {"name": "Somebody", "speakers": [name]}).json()["id"]
    post(boss, "hold_new", person=person_id, reason="A lawsuit")
    active = Hold.objects.of(ana.tenant).get(lifted_at=None)
    assert active.conversation_id == home.id and Person.objects.of(ana.tenant).count() == 1
    again = post(boss, "hold_new", person=person_id, reason="A lawsuit")
    assert again.status_code == 400, "nothing of theirs is left to hold"

"""Operators make webhooks, see their secret once, and try them."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import Agent
from tests.console.operators import post, read, records_of
from tests.events.receiver import receiving
from wings.events.models import Event, Webhook

pytestmark = pytest.mark.django_db


def test_a_webhook_is_made_tried_and_deleted(operator: Client, ana: Agent, settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    listed = operator.get(reverse("admin:events_webhook_changelist"), {"tenant": ana.tenant.name})
    assert reverse("console:webhook_new") in listed.content.decode()
    with receiving() as receiver:
        made = post(operator, "webhook_new", url=receiver.url, types=["job.dead", "fact.added"])
        webhook = Webhook.objects.of(ana.tenant).get()
        assert webhook.types == ["fact.added", "job.dead"] and webhook.actor == "operator"
        secret = made.context["secret"]
        assert "no-store" in made["Cache-Control"] and secret not in read(operator, webhook)
        receiver.answers["webhook.test"] = 202
        assert "status 202 after" in post(operator, "webhook_test", webhook.id).content.decode()
        (delivery,) = receiver.deliveries
        assert delivery.is_signed_by(secret)
        assert delivery.json["data"] == {"webhook_id": str(webhook.id)}
    assert "no answer (ConnectError)" in post(operator, "webhook_test", webhook.id).content.decode()
    assert not Event.objects.of(ana.tenant).exists()
    post(operator, "webhook_delete", webhook.id)
    assert not Webhook.objects.of(ana.tenant).exists()
    made_it, tried, failed, deleted = [what for _, what in records_of(webhook)]
    assert (made_it, deleted) == ("made it", "deleted it")
    assert "status 202" in tried and "ConnectError" in failed


def test_a_webhook_at_a_private_address_is_refused(operator: Client, ana: Agent) -> None:
    operator.get(reverse("admin:index"), {"tenant": ana.tenant.name})
    answer = post(operator, "webhook_new", url="http://10.0.0.1/memory")
    assert answer.status_code == 400 and "act-error" in answer.content.decode()
    assert not Webhook.objects.of(ana.tenant).exists()

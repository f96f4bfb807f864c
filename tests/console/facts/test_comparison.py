"""The comparison page: two moments, what differs, who did it and why."""

from __future__ import annotations

import html
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from semantic import corrections
from semantic.curation import Act
from semantic.models import Fact
from tests.conftest import Agent
from tests.talk import MORNING

pytestmark = pytest.mark.django_db


def read(browser: Client, status: int = 200, **query: Any) -> str:
    answer = browser.get(reverse("console:compare"), {"tenant": "ana's", **query})
    assert answer.status_code == status
    return html.unescape(answer.content.decode())


def test_a_correction_stands_there_with_who_and_why(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[0]
    act = Act(tenant=ana.tenant, actor="bo", reason="<b>She told me.</b>")
    newer = corrections.correct_fact(act=act, fact_id=fact.id, sentence="Mira keeps two dogs.")
    since = (newer.created_at - timedelta(minutes=1)).isoformat()
    empty = read(curator)
    assert "alone" in empty and "Mira keeps two dogs." not in empty
    text = read(curator, since=since)
    assert "bo: <b>She told me.</b>" in text and str(newer.id) in text
    assert "The same facts" in read(curator, since=MORNING.isoformat(), until=MORNING.isoformat())
    assert "The same facts" in read(curator, since=since, conversation=str(uuid.uuid4()))
    assert str(newer.id) in read(curator, since=since, conversation=str(told))


@pytest.mark.parametrize(
    "query", [{"since": "tuesday"}, {"since": "2026-03-02", "until": "2026-03-01"}]
)
def test_what_cannot_be_compared_is_said(
    curator: Client, ana: Agent, query: dict[str, str]
) -> None:
    assert "act-error" in read(curator, 400, **query)

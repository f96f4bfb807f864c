"""A conversation's page of a past moment shows what was believed then, corrected since or not."""

from __future__ import annotations

import html
import uuid
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from episodic.models import Conversation
from memoryproject.database.clock import read_database_clock
from semantic import corrections
from semantic.curation import Act
from semantic.models import Fact
from tests.conftest import Agent, tell
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_past_moment_shows_what_was_believed_then(
    curator: Client, ana: Agent, conversation: uuid.UUID
) -> None:
    early = read_database_clock()
    tell(ana, conversation)
    learnt = read_database_clock()
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[0]
    act = Act(tenant=ana.tenant, actor="bo", reason="She told me.")
    newer = corrections.correct_fact(act=act, fact_id=fact.id, sentence="Mira keeps two dogs.")
    talk = Conversation.objects.of(ana.tenant).get(external_id=conversation)
    address = reverse("admin:episodic_conversation_change", args=[talk.id])

    def visit(at: datetime, **query: Any) -> tuple[set[Fact], str]:
        answer = curator.get(address, {"as_of": at.isoformat(), **query})
        blocks = answer.context["blocks"]
        facts = {entry.fact for block in blocks for entry in block.facts}
        return facts, html.unescape(answer.content.decode())

    assert visit(early)[0] == set()
    then, text = visit(learnt)
    assert fact in then and newer not in then
    assert "the server believed then" in text and "known=now" in text
    now, text = visit(learnt, known="now")
    assert newer in now and fact not in now and "What was believed then" in text
    later = visit(read_database_clock())[0]
    assert newer in later and fact not in later

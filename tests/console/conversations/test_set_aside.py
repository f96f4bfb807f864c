"""The page of a conversation names what was set aside since every run of it failed."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from episodic.models import Episode, Message
from tests.conftest import Agent
from tests.console.conversations.test_conversation_page import read, visit
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.jobs.poison import POISON, poisoned
from tests.jobs.test_poison import drain_through_waits
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_message_set_aside_is_marked_and_leads_to_its_job(
    ana: Agent, curator: Client, conversation: uuid.UUID
) -> None:
    said = [*whole_talk()[:7], {"role": "user", "content": f"A {POISON} pill."}]
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": said})
    ana.post("flush", {"conversation_id": str(conversation)})
    with poisoned("indexing_searchunit", "lexical_text"):
        drain_through_waits(ana)
    message = Message.objects.of(ana.tenant).get(quarantined_by__isnull=False)
    answer = visit(curator, message.conversation)
    assert "aside" in [block.kind for block in answer.context["blocks"]]
    text = answer.content.decode()
    assert "What is stuck" in text and f"conversations/{conversation}/retry" in text
    assert reverse("admin:jobs_job_change", args=[message.quarantined_by_id]) in text


def test_an_episode_set_aside_is_named_with_what_helps(
    ana: Agent, curator: Client, conversation: uuid.UUID
) -> None:
    said = whole_talk()
    said[9] = {**said[9], "content": f"I work as a {POISON.lower()} tester in Delft."}
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": said})
    ana.post("flush", {"conversation_id": str(conversation)})
    with poisoned("semantic_fact", "lower(fact)"):
        drain_through_waits(ana)
    episode = Episode.objects.of(ana.tenant).get(consolidation_failed_at__isnull=False)
    text = read(curator, episode.conversation)
    assert "Episodes without facts, since every run failed" in text
    assert "No run could extract its facts." in text

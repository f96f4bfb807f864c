"""Loads conversations into a tenant's memory and asks it questions, as an agent would."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from django.test import Client
from tqdm import tqdm

from episodic import services
from episodic.models import Conversation
from jobs.draining import drain_jobs
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.services import create_api_key, get_or_create_tenant
from wings.transfer.loading import LoadedConversation, post_conversations

RETRIEVE_RAW = "/api/v0/retrieve_memory/raw"
Answer = dict[str, Any]
Ask = Callable[..., Answer]
"""Asks in a conversation, or from a new one in all those of the user of that id."""


class UnfinishedJobs(Exception):
    """Jobs died or wait for later: what was loaded is not processed; the message counts them."""


def load(conversations: Sequence[LoadedConversation], *, tenant_name: str) -> Ask:
    """Store and process conversations; return a function that asks about one, or a user's.

    It asks the product's own view, with default settings.

    Raises:
        UnfinishedJobs: not all of it could be processed.
    """
    tenant = get_or_create_tenant(name=tenant_name)
    _process(conversations, tenant=tenant)
    secret = create_api_key(tenant=tenant, name="evaluation", scopes=["read"]).secret
    client = Client(headers={"authorization": f"Bearer {secret}"}, SERVER_NAME="localhost")

    def ask(where: uuid.UUID | str, question: str, *, max_tokens: int) -> Answer:
        body = {"query": question, "conversation_id": str(where), "max_tokens": max_tokens}
        if isinstance(where, str):
            body |= {"scope": "user", "user_id": where, "conversation_id": None}
        response = client.post(RETRIEVE_RAW, body, content_type="application/json")
        if response.status_code != 200:
            raise RuntimeError(f"retrieve answered {response.status_code}")
        answer: Answer = response.json()
        return answer

    return ask


def _process(conversations: Sequence[LoadedConversation], *, tenant: Tenant) -> None:
    """Make episodes and facts of all that the tenant has, with progress bars."""
    total = sum(len(conversation.messages) for conversation in conversations)
    with tqdm(total=total, unit=" messages", desc="loading") as bar:
        post_conversations(conversations, tenant=tenant, report=bar.update)
    for conversation in Conversation.objects.of(tenant).filter(pending_count__gt=0):
        # What was said months ago is no window any more: a day of silence closes it.
        services.request_flush(conversation=conversation)
    with tqdm(unit=" jobs", desc="processing") as bar:
        drained = drain_jobs(report=lambda total: bar.update(total - bar.n))
    if drained.dead or drained.later:
        raise UnfinishedJobs(f"{drained.dead} jobs died and {drained.later} wait: look at them.")

"""Loading conversations and waiting until all that follows from them is done."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management.base import CommandError
from tqdm import tqdm

from episodic import services
from episodic.loading import LoadedConversation, post_conversations
from episodic.models import Conversation
from jobs.draining import drain_jobs
from memoryproject.progress import advance, advance_to
from memoryproject.tenancy.models import Tenant


class Unsettled(CommandError):
    """Jobs died or wait for later: what was loaded is not processed; the message counts them."""


def load_and_settle(conversations: Sequence[LoadedConversation], *, tenant: Tenant) -> None:
    """Post conversations and make episodes and facts of all of the tenant's, with progress bars.

    Raises:
        Unsettled: not all of it could be processed.
    """
    total = sum(len(conversation.messages) for conversation in conversations)
    with tqdm(total=total, unit=" messages", desc="loading") as bar:
        post_conversations(conversations, tenant=tenant, report=advance(bar))
    for conversation in Conversation.objects.of(tenant):
        # What was said months ago is no window any more: a day of silence closes it.
        services.request_flush(conversation=conversation)
    with tqdm(unit=" jobs", desc="processing") as bar:
        drained = drain_jobs(report=advance_to(bar))
    if drained.dead or drained.later:
        raise Unsettled(f"{drained.dead} jobs died and {drained.later} wait: look at them.")

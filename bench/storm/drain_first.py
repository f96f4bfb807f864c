"""A control: segmentation in the order that loses messages.

One transaction takes the messages out of the window and ends the job; the next, after
the summaries were embedded, makes the episodes. Whoever dies in between leaves messages
that are in no window and in no episode. Loaded by `drain_first_settings`, which only the
storm names; the foreign keys that would refuse it are dropped in the storm's own database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from episodic import episode_index, queries, segmentation, services
from episodic.episode_index import PlannedEpisode
from episodic.models import Conversation, Episode, Message
from indexing.models import Memory, MemoryKind
from memoryproject.ai import embeddings
from memoryproject.database.ids import make_id

segment_window = segmentation.segment_window
index_episodes = episode_index.index_episodes
request_consolidation = services.request_consolidation

Planned = Sequence[PlannedEpisode]
drained: list[tuple[Planned, Conversation]] = []
"""What the first transaction took out, and the second must write."""


def install() -> None:
    """Put the wrong order in place of the right one, in this process."""
    segmentation.segment_window = segment_in_two
    segmentation._insert_episodes = drain_window
    episode_index.index_episodes = put_off
    services.request_consolidation = forget_to_ask


def segment_in_two(**given: Any) -> bool:
    """Run the product's flow, which only drains now, and make the episodes after it."""
    drained.clear()
    moved = segment_window(**given)
    for planned, conversation in drained:
        embeddings.get_embedder().embed_passages([plan.episode.summary for plan in planned])
        with transaction.atomic():
            make_episodes(planned, conversation)
    return moved


def drain_window(planned: Planned, conversation: Conversation) -> None:
    """Point the messages at episodes that are still to be made."""
    tenant, now = conversation.tenant, queries.database_now()
    for plan in planned:
        memory = Memory(id=make_id(), tenant=tenant, kind=MemoryKind.EPISODE)
        segmentation._begin(plan.episode, conversation, memory, now)
        taken = [message.id for message in plan.messages]
        Message.objects.of(tenant).filter(id__in=taken).update(episode_id=memory.id)


def put_off(planned: Planned, conversation: Conversation) -> None:
    """Leave the episodes and their index to the second transaction."""
    drained.append((planned, conversation))


def forget_to_ask(conversation: Conversation, *, force: bool = False) -> None:
    """Leave the request for facts to the second transaction."""


def make_episodes(planned: Planned, conversation: Conversation) -> None:
    """Write what the first transaction has left out."""
    episodes = [plan.episode for plan in planned]
    Memory.objects.bulk_create(
        Memory(id=episode.id, tenant=episode.tenant, kind=MemoryKind.EPISODE)
        for episode in episodes
    )
    Episode.objects.bulk_create(episodes)
    index_episodes(planned, conversation)
    is_flashbulb = any(row.surprise >= services.FLASHBULB_SURPRISE for row in episodes)
    request_consolidation(conversation, force=is_flashbulb)

"""Announces new episodes, and changes of facts by a changeset."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from episodic.models import Conversation, Episode
from memoryproject.wings import EventType
from retrieval.receipts import find_receipts
from semantic.models import Change, Changeset, Fact
from wings.events import types
from wings.events.outbox import NewEvent, announce

RECEIPTS_AT_MOST = 100
"""Number of receipts that an event lists; it also has their total number."""
TAKES_BACK = {Changeset.Kind.CURATION, Changeset.Kind.REVERT}
"""Kinds of changesets in which people declare that served facts are wrong."""


def announce_episodes(conversation: Conversation, episodes: Sequence[Episode]) -> None:
    ids = {"conversation_id": str(conversation.external_id)}
    events = [
        NewEvent(types.EPISODE_CREATED, {**ids, "episode_id": str(episode.id)})
        for episode in episodes
    ]
    announce(events, tenant=conversation.tenant, scope=conversation.id)


def announce_changes(
    changeset: Changeset, conversation: Conversation, changes: Sequence[Change]
) -> None:
    """Announce the facts that the steps added, retired, restored or left to a curator.

    A fact that people declared wrong is also announced with the receipts of answers that served it.
    """
    common = {"conversation_id": str(conversation.external_id), "changeset_id": str(changeset.id)}
    events = [
        NewEvent(kind, {**common, **data})
        for change in changes
        for kind, data in list_events(change)
    ]
    corrected = [
        event.data
        for event in events
        if event.type is types.FACT_RETIRED
        and (changeset.kind in TAKES_BACK or event.data["because"] == Fact.Because.WRONG)
    ]
    fact_ids = [uuid.UUID(data["fact_id"]) for data in corrected]
    receipts = find_receipts(conversation.tenant, fact_ids)
    for fact_id, data in zip(fact_ids, corrected, strict=True):
        if fact_id in receipts:
            served = list(map(str, receipts[fact_id]))
            named = {"retrieval_ids": served[:RECEIPTS_AT_MOST], "retrievals": len(served)}
            events.append(NewEvent(types.FACT_CORRECTED, {**data, **named}))
    announce(events, tenant=conversation.tenant, scope=conversation.id)


def list_events(change: Change) -> Iterator[tuple[EventType, dict[str, Any]]]:
    """Yield type and data of the events for each fact that a step names."""
    if change.action == Change.Action.SUGGEST:
        facts = [str(one) for one in (change.memory_id, change.other_memory_id) if one]
        yield types.REVIEW_REQUESTED, {"kind": "suggestion", "fact_ids": facts}
    for fact_id, (before, after) in change.states.items():
        # Why it was retired: empty, it was active; None, it was not there.
        was, now = before and before["because"], after and after["because"]
        if now == Fact.Because.WAITING:
            yield types.REVIEW_REQUESTED, {"kind": "pending_fact", "fact_ids": [fact_id]}
        elif now == "" and was in {None, Fact.Because.WAITING}:
            yield types.FACT_ADDED, {"fact_id": fact_id}
        elif now == "" and was:
            yield types.FACT_RESTORED, {"fact_id": fact_id}
        elif was == "" and now:
            gone = {"because": now, "superseded_by": after["superseded_by"]}
            yield types.FACT_RETIRED, {"fact_id": fact_id, **gone}

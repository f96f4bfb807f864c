"""Reverts an engine's results and makes them again from the same messages.

Either episodes and facts that the offline engine made as a fallback, or facts of an older offline
engine. Its runs are reverted, and a job makes the results again. Each conversation is one
transaction, so an interrupted run continues with the others. What people have changed since stays,
and each revert is a changeset that can be reverted itself.
"""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from episodic import queries as episodic_queries
from episodic import withholding as episodic
from episodic.models import Conversation, Episode, Withholding
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act
from semantic.models import Changeset
from semantic.offline.consolidator import ENGINE, MODEL
from semantic.user_facts import lock_home
from wings.rollback import rollback
from wings.rollback.rollback import Counts

STOOD_IN = Q(kind=Changeset.Kind.CONSOLIDATION, degraded=True)
OLD_OFFLINE = Q(kind=Changeset.Kind.CONSOLIDATION, degraded=False, engine=ENGINE) & ~Q(model=MODEL)
"""Condition on runs of older offline engines."""


def find_degraded(*, tenant: Tenant) -> list[uuid.UUID]:
    """Return conversations with episodes or facts made by the offline engine as a fallback."""
    episodes = Episode.objects.of(tenant).filter(degraded=True, withheld_by=None)
    ids = {*episodes.values_list("conversation_id", flat=True)}
    return sorted(ids.union(_find_conversations(tenant, STOOD_IN)))


def find_old_offline(*, tenant: Tenant) -> list[uuid.UUID]:
    """Return conversations with facts of an older offline engine."""
    return sorted(_find_conversations(tenant, OLD_OFFLINE))


def _find_conversations(tenant: Tenant, runs: Q) -> set[uuid.UUID]:
    undone = Changeset.objects.of(tenant).filter(reverts=OuterRef("pk"))
    rows = Changeset.objects.of(tenant).filter(runs, ~Exists(undone))
    return {*rows.values_list("conversation_id", flat=True)}


def learn_again(*, act: Act, conversation_id: uuid.UUID) -> Counts:
    """Queue making a conversation's fallback results again; return the counts.

    A job does it once a worker is free and the model answers.
    """
    with transaction.atomic():
        conversation = lock_home(act.tenant, conversation_id)
        rows = Episode.objects.of(act.tenant).filter(conversation=conversation)
        degraded = list(rows.filter(degraded=True, withheld_by=None).order_by("first_seq"))
        counts = _draw_anew(conversation, degraded, act, runs=STOOD_IN)
        if degraded:
            counts["returned"] = episodic.withhold(
                conversation,
                [],
                [episode.id for episode in degraded],
                withholding=_make_record(act, conversation.id),
            )
        episodic.settle(conversation)
    return counts


def learn_facts_again(*, act: Act, conversation_id: uuid.UUID) -> Counts:
    """Queue making a conversation's facts of an older offline engine again.

    Its episodes stay as they are.
    """
    with transaction.atomic():
        conversation = lock_home(act.tenant, conversation_id)
        counts = _draw_anew(conversation, [], act, runs=OLD_OFFLINE)
        episodic.settle(conversation)
    return counts


def _draw_anew(
    conversation: Conversation, episodes: Sequence[Episode], act: Act, *, runs: Q
) -> Counts:
    """Revert runs, and those that read `episodes`; extract facts again from the others."""
    tainted = rollback.find_tainted(conversation, episodes, also=runs)
    counts = Counts(episodes=len(episodes))
    for run in sorted(tainted, key=lambda run: run.id, reverse=True):
        counts.update(rollback.revert_run(run, act))
    ids = [episode.id for episode in episodes]
    others = rollback.episodes_of(conversation, tainted, but=ids)
    counts["redrawn"] = episodic.draw_anew(tenant=act.tenant, episode_ids=others)
    return counts


def _make_record(act: Act, conversation_id: uuid.UUID) -> Withholding:
    """Create the record of why episodes were taken apart; it quarantines no message."""
    now = episodic_queries.database_now()
    return Withholding.objects.create(
        tenant=act.tenant,
        actor=act.actor,
        reason=act.reason,
        conversation_id=conversation_id,
        since=now,
        created_at=now,
        done_at=now,
    )

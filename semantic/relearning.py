"""Has episodes and facts made anew by the language model where the offline engine stood in for it.

The runs of the offline engine are reverted, its episodes are taken apart, and a job makes both
from the same messages once more. Each conversation is a transaction of its own: what was
interrupted goes on with those that are left. What people have changed since stays as it is, and
each revert is a changeset that can be reverted itself.
"""

import uuid

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from episodic import queries as episodic_queries
from episodic import withholding as episodic
from episodic.models import Episode, Withholding
from memoryproject.tenancy.models import Tenant
from semantic import rollback
from semantic.curation import Act
from semantic.models import Changeset
from semantic.rollback import Counts
from semantic.user_facts import lock_home

STOOD_IN = Q(kind=Changeset.Kind.CONSOLIDATION, degraded=True)


def find_degraded(*, tenant: Tenant) -> list[uuid.UUID]:
    """Return the conversations with episodes or facts that the offline engine made in an outage."""
    episodes = Episode.objects.of(tenant).filter(degraded=True, withheld_by=None)
    undone = Changeset.objects.of(tenant).filter(reverts=OuterRef("pk"))
    runs = Changeset.objects.of(tenant).filter(STOOD_IN, ~Exists(undone))
    ids = {*episodes.values_list("conversation_id", flat=True)}
    return sorted(ids | {*runs.values_list("conversation_id", flat=True)})


def learn_again(*, act: Act, conversation_id: uuid.UUID) -> Counts:
    """Have what the offline engine made of one conversation made anew; return the counts.

    A job does it, as soon as a worker is free and the model answers.
    """
    with transaction.atomic():
        conversation = lock_home(act.tenant, conversation_id)
        rows = Episode.objects.of(act.tenant).filter(conversation=conversation)
        degraded = list(rows.filter(degraded=True, withheld_by=None).order_by("first_seq"))
        runs = rollback.find_tainted(conversation, degraded, also=STOOD_IN)
        counts = Counts(episodes=len(degraded))
        for run in sorted(runs, key=lambda run: run.id, reverse=True):
            counts.update(rollback.revert_run(run, act))
        ids = [episode.id for episode in degraded]
        others = rollback.episodes_of(conversation, runs, but=ids)
        if degraded:
            counts["returned"] = episodic.withhold(
                conversation, [], ids, withholding=_make_record(act, conversation.id)
            )
        counts["redrawn"] = episodic.draw_anew(tenant=act.tenant, episode_ids=others)
        episodic.settle(conversation)
    return counts


def _make_record(act: Act, conversation_id: uuid.UUID) -> Withholding:
    """Create the record of why episodes were taken apart; it withholds no message."""
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

"""Erases what a tenant's policies no longer keep: slice by slice, as an erasure of its own."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.db.models.functions import Now

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from erasure import acts
from erasure.holds import holds_of
from erasure.models import Erasure, Kept, RetentionPolicy
from notes.models import Note
from retrieval.models import Retrieval, RetrievalHit


def find_due(policy: RetentionPolicy) -> QuerySet[Any]:
    """Return the conversations or notes that a policy no longer keeps, in no order.

    What is on hold is not among them, nor a conversation in which nothing is stored any more.
    """
    rows = _find_conversations(policy) if policy.kind == Kept.CONVERSATION else _find_notes(policy)
    if policy.keep_newest is not None:
        newest = rows.order_by("-changed_at", "-id")[: policy.keep_newest]
        rows = rows.exclude(id__in=newest.values("id"))
    if policy.older_than_days is not None:
        rows = rows.filter(changed_at__lt=Now() - timedelta(days=policy.older_than_days))
    if policy.unserved_days is not None:
        rows = rows.filter(~Exists(_find_servings(policy, policy.unserved_days)))
    held = holds_of(policy.tenant)
    if held.filter(conversation_id=None).exists():
        return rows.none()
    homes = list(held.values_list("conversation_id", flat=True))
    if policy.kind == Kept.CONVERSATION:
        return rows.exclude(id__in=homes)
    return rows.exclude(conversation__in=homes)


def _find_conversations(policy: RetentionPolicy) -> QuerySet[Any]:
    messages = Message.objects.of(policy.tenant).filter(conversation=OuterRef("pk")).order_by()
    last = messages.values("conversation").annotate(last=Max("received_at")).values("last")
    rows = Conversation.objects.of(policy.tenant).annotate(changed_at=last)
    return rows.filter(changed_at__isnull=False)


def _find_notes(policy: RetentionPolicy) -> QuerySet[Any]:
    rows = Note.objects.of(policy.tenant).annotate(changed_at=F("updated_at"))
    return rows.filter(source_type=policy.source_type) if policy.source_type else rows


def _find_servings(policy: RetentionPolicy, days: int) -> QuerySet[Any]:
    """Return the receipts since then: asked in a conversation, or that served a note."""
    since = Now() - timedelta(days=days)
    if policy.kind == Kept.CONVERSATION:
        receipts = Retrieval.objects.of(policy.tenant)
        return receipts.filter(conversation=OuterRef("pk"), created_at__gt=since)
    hits = RetrievalHit.objects.of(policy.tenant)
    return hits.filter(memory_id=OuterRef("pk"), retrieval__created_at__gt=since)


def count_due(policy: RetentionPolicy) -> Counter[str]:
    """Return how many rows the policy would erase now, by kind, without what was made of them."""
    due = find_due(policy).values("id")
    if policy.kind == Kept.NOTE:
        return Counter(notes=due.count())
    messages = Message.objects.of(policy.tenant).filter(conversation__in=due)
    return Counter(conversations=due.count(), messages=messages.count())


def erase_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next conversation or some notes; None: the policy keeps all that is left."""
    tenant = erasure.tenant
    policy = RetentionPolicy.objects.of(tenant).filter(id__in=[erasure.target]).first()
    if policy is None:
        return None
    due = find_due(policy)
    if policy.kind == Kept.NOTE:
        note_ids = list(
            due.order_by("id").values_list("id", flat=True)[: settings.ERASED_NOTES_AT_ONCE]
        )
        return acts.erase_notes(tenant=tenant, note_ids=note_ids) if note_ids else None
    home = due.order_by("id").values_list("id", flat=True).first()
    if home is None:
        return None
    episodic_queries.lock_conversation(tenant=tenant, conversation_id=home)
    if not find_due(policy).filter(id=home).exists():
        return acts.Done()  # something was said in it meanwhile
    done = acts.erase_conversation(tenant=tenant, conversation_id=home)
    done.counts["conversations"] += 1
    return done

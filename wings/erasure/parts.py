"""Erases in parts, each a transaction: a user's notes, an import, data beyond retention.

For an import, everything it added is deleted, with all that was made from it. A conversation
without other messages is deleted as a whole, with row and history; in others the imported messages,
facts and notes are deleted one by one, and facts are extracted again from the rest. Finally the
changeset is deleted: the erasure is the record.
"""

import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.db.models.functions import Now

from episodic.models import Conversation, Message
from jobs import erasing as jobs
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Change, Changeset, Fact
from semantic.user_facts import lock_home
from wings.erasure import acts, tenants
from wings.erasure.models import Erasure, Hold, Kept, RetentionPolicy
from wings.notes import erasing as notes
from wings.notes.models import Note

TABLES = {"conversations": Conversation, "messages": Message, "facts": Fact, "notes": Note}


def erase_user_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next notes that are or were about a user; None: none are left."""
    rows = notes.notes_about(erasure.tenant, [erasure.subject])
    return acts.erase_some_notes(erasure.tenant, rows)


def imports_of(tenant: Tenant) -> QuerySet[Changeset]:
    """Return the imports that can be erased here: those not of a single conversation."""
    rows = Changeset.objects.of(tenant)
    return rows.filter(kind=Changeset.Kind.IMPORT, conversation=None)


def count_import(erasure: Erasure) -> Counter[str]:
    """Return how many rows of an import still exist, by kind."""
    brought = _find_brought(erasure)
    rows = {name: table.objects.of(erasure.tenant) for name, table in TABLES.items()}
    return Counter({name: table.filter(id__in=brought).count() for name, table in rows.items()})


def erase_import_part(erasure: Erasure) -> acts.Done | None:
    tenant = erasure.tenant
    if not imports_of(tenant).filter(id__in=[erasure.target]).exists():
        return None
    brought = _find_brought(erasure)
    for table in (Message, Fact, Note):
        rows = table.objects.of(tenant).filter(id__in=brought).exclude(conversation=None)
        home = rows.order_by().values_list("conversation_id", flat=True).first()
        if home is not None:
            return _erase_in(home, erasure)
    for conversation in Conversation.objects.of(tenant).filter(id__in=brought).order_by("id"):
        if _is_all_imported(conversation, erasure):
            return _erase_in(conversation.id, erasure)
    done = acts.erase_some_notes(tenant, Note.objects.of(tenant).filter(id__in=brought))
    if done is not None:
        return done
    execute("SELECT public.memory_erase_import(%s, %s)", [tenant.id, erasure.target])
    return acts.Done(Counter(changesets=1))


def _find_brought(erasure: Erasure) -> QuerySet[Any, Any]:
    changes = Change.objects.of(erasure.tenant).filter(changeset=erasure.target)
    return changes.filter(action=Change.Action.NEW).values("memory_id")


def _erase_in(home: uuid.UUID, erasure: Erasure) -> acts.Done:
    """Erase what an import added to a conversation, or a part of that."""
    tenant, brought = erasure.tenant, _find_brought(erasure)
    conversation = lock_home(tenant, home)
    if _is_all_imported(conversation, erasure):
        done = tenants.erase_whole_conversation(tenant, home)
        jobs.erase_jobs_of(tenant=tenant, conversation_id=home)
        return done
    messages = Message.objects.within(conversation).filter(id__in=brought)
    done = acts.erase_some_messages(messages.order_by("-seq"), erasure)
    if done.counts:
        return done
    facts = Fact.objects.within(conversation).filter(changeset=erasure.target)
    fact_ids = list(facts.order_by("id").values_list("id", flat=True))
    if fact_ids:
        return acts.erase_facts(conversation, fact_ids=fact_ids, actor=erasure.actor)
    rows = Note.objects.within(conversation).filter(id__in=brought)
    return acts.erase_some_notes(tenant, rows) or acts.Done()


def _is_all_imported(conversation: Conversation, erasure: Erasure) -> bool:
    """Return whether the import created a conversation, and nobody else added to it."""
    brought = _find_brought(erasure)
    facts = Fact.objects.within(conversation).exclude(changeset=erasure.target)
    return brought.filter(memory_id=conversation.id).exists() and not (
        Message.objects.within(conversation).exclude(id__in=brought).exists()
        or Note.objects.within(conversation).exclude(id__in=brought).exists()
        or facts.filter(changeset__kind=Changeset.Kind.IMPORT).exists()
    )


def holds_of(tenant: Tenant) -> QuerySet[Hold]:
    return Hold.objects.of(tenant).filter(lifted_at=None)


def find_due(policy: RetentionPolicy) -> QuerySet[Any]:
    """Return the conversations or notes beyond a policy's retention, unordered.

    Rows on hold and conversations that are empty already are left out.
    """
    rows, servings, home = _find_subjects(policy)
    if policy.keep_newest is not None:
        newest = rows.order_by("-changed_at", "-id")[: policy.keep_newest]
        rows = rows.exclude(id__in=newest.values("id"))
    if policy.older_than_days is not None:
        rows = rows.filter(changed_at__lt=Now() - timedelta(days=policy.older_than_days))
    if policy.unserved_days is not None:
        recent = servings.filter(at__gt=Now() - timedelta(days=policy.unserved_days))
        rows = rows.filter(~Exists(recent))
    held = holds_of(policy.tenant)
    if held.filter(conversation_id=None).exists():
        return rows.none()
    return rows.exclude(**{f"{home}__in": list(held.values_list("conversation_id", flat=True))})


def _find_subjects(policy: RetentionPolicy) -> tuple[QuerySet[Any], QuerySet[Any], str]:
    """Return a policy's rows, with `changed_at`; a row's receipts, with `at`; and a column.

    The receipts were asked in the conversation, or served the note. The column has the
    conversation's id.
    """
    tenant = policy.tenant
    if policy.kind == Kept.CONVERSATION:
        messages = Message.objects.of(tenant).filter(conversation=OuterRef("pk")).order_by()
        last = messages.values("conversation").annotate(last=Max("received_at")).values("last")
        rows = Conversation.objects.of(tenant).annotate(changed_at=last)
        asked = Retrieval.objects.of(tenant).filter(conversation=OuterRef("pk"))
        return rows.filter(changed_at__isnull=False), asked.annotate(at=F("created_at")), "id"
    notes = Note.objects.of(tenant).annotate(changed_at=F("updated_at"))
    if policy.source_type:
        notes = notes.filter(source_type=policy.source_type)
    hits = RetrievalHit.objects.of(tenant).filter(memory_id=OuterRef("pk"))
    return notes, hits.annotate(at=F("retrieval__created_at")), "conversation"


def count_due(policy: RetentionPolicy) -> Counter[str]:
    """Return how many rows the policy would erase now, by kind, without derived rows."""
    due = find_due(policy).values("id")
    if policy.kind == Kept.NOTE:
        return Counter(notes=due.count())
    messages = Message.objects.of(policy.tenant).filter(conversation__in=due)
    return Counter(conversations=due.count(), messages=messages.count())


def erase_policy_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next conversation or some notes; None: nothing more is due."""
    tenant = erasure.tenant
    policy = RetentionPolicy.objects.of(tenant).filter(id__in=[erasure.target]).first()
    if policy is None:
        return None
    due = find_due(policy)
    if policy.kind == Kept.NOTE:
        return acts.erase_some_notes(tenant, due)
    home = due.order_by("id").values_list("id", flat=True).first()
    if home is None:
        return None
    lock_home(tenant, home)
    if not find_due(policy).filter(id=home).exists():
        return acts.Done()  # something was said in it meanwhile
    done = acts.erase_conversation(tenant=tenant, conversation_id=home)
    done.counts["conversations"] += 1
    return done

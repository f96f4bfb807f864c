"""Erases part by part, each a transaction: a person, an import, what a policy no longer keeps.

Of a person their conversations go, then notes about them, then what they said in other
conversations, and at last their names and ids, with all who were merged into them.

Of an import what it brought in goes, with all that was made of it. A conversation in which nothing
else was said goes as a whole, row and history included; in another one the imported messages,
facts and notes go one by one, and what is left is drawn anew. At last the changeset itself goes:
the erasure is the record.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.db.models.functions import Now

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from erasure import acts, tenants
from erasure.models import Erasure, Hold, Kept, RetentionPolicy
from jobs import erasing as jobs
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant
from notes import erasing as notes
from notes.models import Note
from people import queries, services
from people.models import Person
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Change, Changeset, Fact

TABLES = {"conversations": Conversation, "messages": Message, "facts": Fact, "notes": Note}


def erase_user_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next notes that are, or once were, about a user; None: there are none any more."""
    note_ids = _find_notes_about([erasure.subject], erasure.tenant)
    return acts.erase_notes(tenant=erasure.tenant, note_ids=note_ids) if note_ids else None


def erase_person_part(erasure: Erasure) -> acts.Done | None:
    tenant = erasure.tenant
    person = Person.objects.of(tenant).filter(id__in=[erasure.target]).first()
    if person is None:
        return None
    identity = queries.find_identity(person)
    homes = queries.conversations_of(tenant, identity).order_by("id")
    home = homes.values_list("id", flat=True).first()
    if home is not None:
        return acts.erase_conversation(tenant=tenant, conversation_id=home)
    note_ids = _find_notes_about(identity.user_ids, tenant)
    if note_ids:
        return acts.erase_notes(tenant=tenant, note_ids=note_ids)
    said = Message.objects.of(tenant).filter(name__in=identity.speakers)
    done = acts.erase_some_messages(said.order_by("id"), erasure)
    if not done.counts:
        erased = services.erase_people(tenant=tenant, person_ids=identity.person_ids)
        done.counts["people"] += erased
    return done


def is_large_person(erasure: Erasure) -> bool:
    """Return whether nobody should wait for the erasure of a person."""
    person = Person.objects.of(erasure.tenant).get(id__in=[erasure.target])
    belongings = queries.list_belongings(erasure.tenant, queries.find_identity(person))
    large: int = settings.ERASURE_WAITS_FOR_MESSAGES
    rows = (belongings["messages"], belongings["notes"])
    return sum(some.order_by()[: large + 1].count() for some in rows) > large


def _find_notes_about(user_ids: Sequence[str], tenant: Tenant) -> list[uuid.UUID]:
    """Return some notes that are, or once were, about one of the user ids."""
    at_most = settings.ERASED_NOTES_AT_ONCE
    finds = (notes.notes_of_user(tenant=tenant, user_id=id_, at_most=at_most) for id_ in user_ids)
    return next(filter(None, finds), [])


def imports_of(tenant: Tenant) -> QuerySet[Changeset]:
    """Return the imports that can be undone here: those of no single conversation."""
    rows = Changeset.objects.of(tenant)
    return rows.filter(kind=Changeset.Kind.IMPORT, conversation=None)


def count_import(erasure: Erasure) -> Counter[str]:
    """Return how many of the rows that an import brought in are still there, by kind."""
    brought = _find_brought(erasure)
    rows = {name: table.objects.of(erasure.tenant) for name, table in TABLES.items()}
    return Counter({name: table.filter(id__in=brought).count() for name, table in rows.items()})


def erase_import_part(erasure: Erasure) -> acts.Done | None:
    tenant = erasure.tenant
    changeset = imports_of(tenant).filter(id__in=[erasure.target]).first()
    if changeset is None:
        return None
    brought = _find_brought(erasure)
    for table in (Message, Fact, Note):
        rows = table.objects.of(tenant).filter(id__in=brought).exclude(conversation=None)
        home = rows.order_by().values_list("conversation_id", flat=True).first()
        if home is not None:
            return _erase_in(home, erasure, changeset)
    for conversation in Conversation.objects.of(tenant).filter(id__in=brought).order_by("id"):
        if _is_all_imported(conversation, erasure, changeset):
            return _erase_in(conversation.id, erasure, changeset)
    notes = Note.objects.of(tenant).filter(id__in=brought).order_by("id")
    note_ids = list(notes.values_list("id", flat=True)[: settings.ERASED_NOTES_AT_ONCE])
    if note_ids:
        return acts.erase_notes(tenant=tenant, note_ids=note_ids)
    execute("SELECT public.memory_erase_import(%s, %s)", [tenant.id, changeset.id])
    return acts.Done(Counter(changesets=1))


def _find_brought(erasure: Erasure) -> QuerySet[Any, Any]:
    changes = Change.objects.of(erasure.tenant).filter(changeset=erasure.target)
    return changes.filter(action=Change.Action.NEW).values("memory_id")


def _erase_in(home: uuid.UUID, erasure: Erasure, changeset: Changeset) -> acts.Done:
    """Erase what an import brought into a conversation, or a part of that."""
    tenant, brought = erasure.tenant, _find_brought(erasure)
    conversation = episodic_queries.lock_conversation(tenant=tenant, conversation_id=home)
    if _is_all_imported(conversation, erasure, changeset):
        done = tenants.erase_whole_conversation(tenant, home)
        jobs.erase_jobs_of(tenant=tenant, conversation_id=home)
        return done
    messages = Message.objects.of(tenant).filter(conversation=home, id__in=brought)
    done = acts.erase_some_messages(messages.order_by("-seq"), erasure)
    if done.counts:
        return done
    facts = Fact.objects.of(tenant).filter(conversation=home, changeset=changeset)
    fact_ids = list(facts.order_by("id").values_list("id", flat=True))
    if fact_ids:
        return acts.erase_facts(conversation, fact_ids=fact_ids, actor=erasure.actor)
    notes = Note.objects.of(tenant).filter(conversation=home, id__in=brought).order_by("id")
    return acts.erase_notes(tenant=tenant, note_ids=list(notes.values_list("id", flat=True)))


def _is_all_imported(conversation: Conversation, erasure: Erasure, changeset: Changeset) -> bool:
    """Return whether the import has made a conversation, and nobody else added to it since."""
    tenant, brought = erasure.tenant, _find_brought(erasure)
    was_made = Conversation.objects.of(tenant).filter(id=conversation.id, id__in=brought).exists()
    said = Message.objects.of(tenant).filter(conversation=conversation)
    noted = Note.objects.of(tenant).filter(conversation=conversation)
    facts = Fact.objects.of(tenant).filter(conversation=conversation).exclude(changeset=changeset)
    is_shared = (
        said.exclude(id__in=brought).exists()
        or noted.exclude(id__in=brought).exists()
        or facts.filter(changeset__kind=Changeset.Kind.IMPORT).exists()
    )
    return was_made and not is_shared


def holds_of(tenant: Tenant) -> QuerySet[Hold]:
    return Hold.objects.of(tenant).filter(lifted_at=None)


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


def erase_policy_part(erasure: Erasure) -> acts.Done | None:
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

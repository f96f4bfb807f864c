"""Undoes an import from another system: what it brought in goes, with all that was made of it.

Part by part, each a transaction. A conversation in which nothing else was said goes as a whole,
row and history included; in another one the imported messages, facts and notes go one by one,
and what is left is drawn anew. At last the changeset itself goes: the erasure is the record.
"""

import uuid
from collections import Counter
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from erasure import acts, tenants
from erasure.models import Erasure
from jobs import erasing as jobs
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant, TenantModel
from notes.models import Note
from semantic.models import Change, Changeset, Fact

TABLES: dict[str, type[TenantModel]] = {
    "conversations": Conversation,
    "messages": Message,
    "facts": Fact,
    "notes": Note,
}


def imports_of(tenant: Tenant) -> QuerySet[Changeset]:
    """Return the imports that can be undone here: those of no single conversation."""
    rows = Changeset.objects.of(tenant)
    return rows.filter(kind=Changeset.Kind.IMPORT, conversation=None)


def count_import(erasure: Erasure) -> Counter[str]:
    """Return how many of the rows that an import brought in are still there, by kind."""
    brought = _find_brought(erasure)
    rows = {name: table.objects.of(erasure.tenant) for name, table in TABLES.items()}
    return Counter({name: table.filter(id__in=brought).count() for name, table in rows.items()})


def erase_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next part of what an import brought in; None: there is none any more."""
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

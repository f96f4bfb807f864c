"""Erases a whole tenant in parts, each a transaction that counts itself.

First all keys are revoked and jobs stopped. Then the conversations are erased one by one, then rows
that belong to none, then all other tables, referring ones first; and finally, in one transaction,
the rows that all others refer to.
"""

import uuid
from collections import Counter
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps

from episodic.models import Conversation, Episode, Message, Review, Withholding
from indexing import erasing as index
from indexing.models import SearchUnit, SearchVector
from jobs import erasing as jobs
from jobs.models import LLMCall
from memoryproject.database.batches import delete_some
from memoryproject.database.clock import execute, read_database_clock
from memoryproject.tenancy import erasing as tenancy
from memoryproject.tenancy.models import APIKey, Tenant, TenantModel
from retrieval.models import Context, MemoryTest, Retrieval
from semantic import erasing as semantic
from semantic.models import Changeset, Evidence, Fact
from wings.erasure import acts, other_rows, receipts
from wings.erasure.models import Erasure
from wings.events.models import Event, Webhook
from wings.instructions.models import InstructionVersion
from wings.notes.models import Link, Note, NoteVersion
from wings.people.models import Person

COUNTED: dict[str, type[TenantModel]] = {
    "conversations": Conversation, "messages": Message, "episodes": Episode, "facts": Fact,
    "evidence": Evidence, "reviews": Review, "notes": Note, "note_versions": NoteVersion,
    "links": Link, "search_units": SearchUnit, "search_vectors": SearchVector,
    "receipts": Retrieval, "contexts": Context, "people": Person, "memory_tests": MemoryTest,
    "changesets": Changeset, "model_calls": LLMCall, "events": Event, "webhooks": Webhook,
    "keys": APIKey, "instructions": InstructionVersion,
}  # fmt: skip
"""Tables that a preview counts; the tenant's other rows depend on these."""
NAMES = {table: name for name, table in COUNTED.items()}


def count_tenant(tenant: Tenant) -> Counter[str]:
    """Return how many rows an erasure would delete, by kind."""
    counts = Counter({name: table.objects.of(tenant).count() for name, table in COUNTED.items()})
    counts += other_rows.count_of_tenant(tenant)
    counts["pages"] = receipts.count_all_pages(tenant.id)
    return counts


def stop(tenant: Tenant, erasure: Erasure) -> None:
    """Revoke all of the tenant's keys, and stop all jobs but this one."""
    tenancy.revoke_all(tenant, now=read_database_clock())
    if erasure.job_id is not None:
        jobs.stop_all(tenant=tenant, but=erasure.job_id)


def erase_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next part, in the caller's transaction; None: only the last part is left."""
    tenant = erasure.tenant
    home = Conversation.objects.of(tenant).order_by("id").values_list("id", flat=True).first()
    if home is not None:
        return erase_whole_conversation(tenant, home)
    if done := acts.erase_some_notes(tenant, Note.objects.of(tenant)):
        return done
    if erased := _erase_history(tenant, None):
        return acts.Done(Counter(changesets=erased))
    if counts := other_rows.erase_of_tenant(tenant):
        return acts.Done(counts)
    for table in _list_tables():
        rows = table.objects.of(tenant).exclude(id__in=[erasure.job_id])
        if erased := delete_some(rows.order_by("id")):
            return acts.Done(_count(table, erased))
    return None


def _list_tables() -> list[type[TenantModel]]:
    tables = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    links: dict[Any, set[Any]] = {
        table: {field.related_model for field in table._meta.concrete_fields} - {table, None}
        for table in tables
    }
    order = reversed([*TopologicalSorter(links).static_order()])
    links.pop(Erasure)  # the record stays; keys and counts are deleted with the tenant itself
    return [table for table in order if table in links and table._meta.app_label != "tenancy"]


def _count(table: type[TenantModel], erased: int) -> Counter[str]:
    return Counter({NAMES[table]: erased} if table in NAMES else {})


def erase_whole_conversation(tenant: Tenant, conversation_id: uuid.UUID) -> acts.Done:
    """Delete a conversation with row and history. Models' answers and jobs stay."""
    done = acts.erase_conversation(tenant=tenant, conversation_id=conversation_id, with_work=False)
    semantic.erase_acts(Conversation.objects.of(tenant).get(id=conversation_id))
    done.counts["changesets"] += _erase_history(tenant, conversation_id)
    index.erase_scope(tenant=tenant, conversation_id=conversation_id)
    Withholding.objects.of(tenant).filter(conversation=conversation_id).delete()
    Conversation.objects.of(tenant).filter(id=conversation_id).delete()
    done.counts["conversations"] += 1
    return done


def _erase_history(tenant: Tenant, conversation_id: uuid.UUID | None) -> int:
    """Delete changesets with their steps, and unmask records; return how many changesets.

    They are those of a conversation, or of none. They are append-only: the database refuses,
    unless an erasure of the whole tenant is on record and running, or one of an import
    while the conversation is empty.
    """
    statement = "SELECT public.memory_erase_history(%s, %s)"
    return int(execute(statement, [tenant.id, conversation_id])[0][0])


def erase_rest(tenant: Tenant) -> Counter[str]:
    """Delete later rows and those that all others refer to, in the caller's transaction."""
    counts: Counter[str] = Counter()
    for table in _list_tables():
        counts += _count(table, table.objects.of(tenant).delete()[0])
    keys = APIKey.objects.of(tenant).values_list("id", flat=True)
    other_rows.forget_names([tenant.id, *keys])
    counts["keys"] += tenancy.erase_tenant(tenant)
    return counts

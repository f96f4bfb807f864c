"""Erases receipts and contexts, inside the transaction of one erasure; and pages, after it."""

import shutil
import uuid
from collections.abc import Sequence

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import StrIndex

from memoryproject.database.batches import delete_rows, in_batches
from memoryproject.tenancy.models import Tenant
from retrieval import mirror
from retrieval.models import Context, ContextSection, MemoryTest, Retrieval, RetrievalHit

BESIDE = 1
"""Messages before and after which an agent asks with the words of a message."""
WORDS_OF_OWN = 8
"""Characters: a shorter question is in too many messages to be a quotation of one."""


def erase_receipts_of_conversation(*, tenant: Tenant, conversation_id: uuid.UUID) -> int:
    return _erase(tenant, Retrieval.objects.of(tenant).filter(conversation=conversation_id))


def erase_receipts_serving(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    """Delete the receipts of answers that served any of the memories; return how many."""
    mine, hits = Retrieval.objects.of(tenant), RetrievalHit.objects.of(tenant)
    return sum(
        _erase(tenant, mine.filter(id__in=hits.filter(memory_id__in=ids).values("retrieval")))
        for ids in in_batches(memory_ids)
    )


def erase_receipts_beside(
    *, tenant: Tenant, conversation_id: uuid.UUID, seq: int, content: str
) -> int:
    """Delete the receipts whose question may hold what a message says; return how many.

    Agents ask with the words that were just said: what was asked beside the message in its
    conversation, and what holds its words or is part of them, anywhere in the tenant.
    """
    beside = Q(conversation=conversation_id, through_seq__range=(seq - BESIDE, seq + BESIDE))
    whole = Value(content)
    rows = Retrieval.objects.of(tenant).annotate(
        holds=StrIndex(F("query"), whole), is_held=StrIndex(whole, F("query"))
    )
    quotes = Q(holds__gt=0) | Q(is_held__gt=0, query__regex=f".{{{WORDS_OF_OWN},}}")
    return _erase(tenant, rows.filter(beside | quotes))


def erase_tests(*, tenant: Tenant, conversation_id: uuid.UUID, content: str | None = None) -> int:
    """Delete memory tests of a conversation; with `content` those whose words it may hold."""
    rows = MemoryTest.objects.of(tenant).filter(conversation=conversation_id)
    ids = [row.id for row in rows if content is None or _shares_words(row, content)]
    return delete_rows(MemoryTest.objects.of(tenant), "id__in", ids)


def _shares_words(test: MemoryTest, content: str) -> bool:
    said = content.casefold()
    texts = [text.casefold() for text in (test.query, *test.must_say, *test.must_not_say)]
    return any(text in said or said in text for text in texts)


def erase_other_receipts(*, tenant: Tenant, at_most: int) -> int:
    """Delete some receipts of a tenant; return how many there were."""
    ids = list(Retrieval.objects.of(tenant).order_by("id").values_list("id", flat=True)[:at_most])
    return _erase(tenant, Retrieval.objects.of(tenant).filter(id__in=ids))


def _erase(tenant: Tenant, rows: QuerySet[Retrieval]) -> int:
    ids = list(rows.values_list("id", flat=True))
    delete_rows(RetrievalHit.objects.of(tenant), "retrieval__in", ids)
    return delete_rows(Retrieval.objects.of(tenant), "id__in", ids)


def erase_contexts_holding(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    """Delete the contexts that quote any of the memories, whole; return how many."""
    return sum(
        erase_contexts(tenant, holding=ContextSection.objects.of(tenant).filter(memory__in=ids))
        for ids in in_batches(memory_ids)
    )


def erase_contexts(tenant: Tenant, *, holding: QuerySet[ContextSection] | None = None) -> int:
    """Delete the contexts of a tenant that hold some sections, or all; return how many."""
    rows = Context.objects.of(tenant)
    if holding is not None:
        rows = rows.filter(id__in=holding.values("context"))
    ids = list(rows.select_for_update().order_by("id").values_list("id", flat=True))
    delete_rows(ContextSection.objects.of(tenant), "context__in", ids)
    return delete_rows(Context.objects.of(tenant), "id__in", ids)


def erase_pages(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Remove the pages of memories that are gone, and drafts that a crash has left of them.

    Raises:
        FolderAway: the folder cannot be written; to be tried again.
    """
    for ids in in_batches(memory_ids, size=mirror.BATCH):
        mirror.mirror_memories(tenant=tenant, memory_ids=list(ids))
        with mirror.writing(tenant.id):
            for memory_id in ids:
                mirror.remove_drafts(tenant.id, memory_id)


def erase_folder(tenant_id: uuid.UUID) -> None:
    """Remove all pages of a tenant.

    Raises:
        FolderAway: the folder cannot be written; to be tried again.
    """
    if not mirror.is_on():
        return
    with mirror.writing(tenant_id):
        for part in (mirror.find_root() / str(tenant_id)).iterdir():
            if part.is_dir():
                shutil.rmtree(part)


def count_pages(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    return sum(mirror.find_page(tenant.id, memory_id) is not None for memory_id in memory_ids)


def count_all_pages(tenant_id: uuid.UUID) -> int:
    return sum(1 for _ in mirror.pages_of(tenant_id)) if mirror.is_on() else 0

"""Erases receipts and contexts, inside the transaction of one erasure; and pages, after it."""

import shutil
import uuid
from collections.abc import Sequence

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import StrIndex

from episodic.models import Conversation, Message
from memoryproject.database.batches import delete_rows, in_batches
from memoryproject.tenancy.models import Tenant
from retrieval.models import Context, ContextSection, MemoryTest, Retrieval, RetrievalHit
from wings.navigation import mirror

BESIDE = 1
"""Messages before and after which an agent asks with the words of a message."""
WORDS_OF_OWN = 8
"""Characters: a shorter question is in too many messages to be a quotation of one."""


def erase_receipts_of(conversation: Conversation) -> int:
    return _erase(conversation.tenant, Retrieval.objects.within(conversation))


def erase_receipts_about(*, tenant: Tenant, user_ids: Sequence[str]) -> int:
    """Delete the receipts of what was asked about users, in whichever conversation or in none."""
    asked = Retrieval.objects.of(tenant).filter(parameters__user_id__in=list(user_ids))
    return _erase(tenant, asked)


def erase_receipts_serving(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    """Delete the receipts of answers that served any of the memories; return how many."""
    mine, hits = Retrieval.objects.of(tenant), RetrievalHit.objects.of(tenant)
    return sum(
        _erase(tenant, mine.filter(id__in=hits.filter(memory_id__in=ids).values("retrieval")))
        for ids in in_batches(memory_ids)
    )


def erase_receipts_beside(message: Message) -> int:
    """Delete the receipts whose question may hold what a message says; return how many.

    Agents ask with the words that were just said: what was asked beside the message in its
    conversation, and what holds its words or is part of them, anywhere in the tenant.
    """
    beside = (message.seq - BESIDE, message.seq + BESIDE)
    asked = Q(conversation=message.conversation_id, through_seq__range=beside)
    whole = Value(message.content)
    rows = Retrieval.objects.of(message.tenant).annotate(
        holds=StrIndex(F("query"), whole), is_held=StrIndex(whole, F("query"))
    )
    quotes = Q(holds__gt=0) | Q(is_held__gt=0, query__regex=f".{{{WORDS_OF_OWN},}}")
    return _erase(message.tenant, rows.filter(asked | quotes))


def erase_tests(conversation: Conversation, *, content: str | None = None) -> int:
    """Delete memory tests of a conversation; with `content` those whose words it may hold."""
    rows = MemoryTest.objects.within(conversation)
    ids = [row.id for row in rows if content is None or _shares_words(row, content)]
    return delete_rows(rows, "id__in", ids)


def _shares_words(test: MemoryTest, content: str) -> bool:
    said = content.casefold()
    texts = [text.casefold() for text in (test.query, *test.must_say, *test.must_not_say)]
    return any(text in said or said in text for text in texts)


def _erase(tenant: Tenant, rows: QuerySet[Retrieval]) -> int:
    ids = list(rows.values_list("id", flat=True))
    delete_rows(RetrievalHit.objects.of(tenant), "retrieval__in", ids)
    return delete_rows(Retrieval.objects.of(tenant), "id__in", ids)


def erase_contexts_holding(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    """Delete the contexts that quote any of the memories, whole; return how many."""
    rows, sections, erased = Context.objects.of(tenant), ContextSection.objects.of(tenant), 0
    for some in in_batches(memory_ids):
        holding = rows.filter(id__in=sections.filter(memory__in=some).values("context"))
        ids = list(holding.select_for_update().order_by("id").values_list("id", flat=True))
        delete_rows(sections, "context__in", ids)
        erased += delete_rows(rows, "id__in", ids)
    return erased


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

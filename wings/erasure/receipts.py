"""Erases receipts and contexts as part of an erasure, and mirror pages after it."""

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
"""Number of messages around a message whose questions are likely to repeat its words."""
WORDS_OF_OWN = 8
"""Length of a question from which on it may be a quotation of one message."""


def erase_receipts_of(conversation: Conversation) -> int:
    return _erase(conversation.tenant, Retrieval.objects.within(conversation))


def erase_receipts_about(*, tenant: Tenant, user_ids: Sequence[str]) -> int:
    """Delete receipts of questions about users, in any conversation or in none."""
    asked = Retrieval.objects.of(tenant).filter(parameters__user_id__in=list(user_ids))
    return _erase(tenant, asked)


def erase_receipts_serving(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> int:
    """Delete receipts of answers that served one of the memories; return how many."""
    mine, hits = Retrieval.objects.of(tenant), RetrievalHit.objects.of(tenant)
    return sum(
        _erase(tenant, mine.filter(id__in=hits.filter(memory_id__in=ids).values("retrieval")))
        for ids in in_batches(memory_ids)
    )


def erase_receipts_beside(message: Message) -> int:
    """Delete receipts whose question may contain text of a message; return how many.

    Agents ask with words just said, so this deletes questions asked around the message in its
    conversation, and questions anywhere in the tenant that contain its text or are part of it.
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
    """Delete memory tests of a conversation; with `content`, only those that may quote it."""
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
    """Delete whole contexts that quote one of the memories; return how many."""
    rows, sections, erased = Context.objects.of(tenant), ContextSection.objects.of(tenant), 0
    for some in in_batches(memory_ids):
        holding = rows.filter(id__in=sections.filter(memory__in=some).values("context"))
        ids = list(holding.select_for_update().order_by("id").values_list("id", flat=True))
        delete_rows(sections, "context__in", ids)
        erased += delete_rows(rows, "id__in", ids)
    return erased


def erase_pages(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Delete the mirror pages of deleted memories, and drafts left by a crash.

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

"""Erases notes with all their versions, and links, inside the transaction of one erasure."""

import uuid
from collections import Counter
from collections.abc import Sequence

from django.db.models import Q, QuerySet

from episodic.erased_keys import forget_keys
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from wings.notes.models import Link, Note, NoteVersion


def notes_about(tenant: Tenant, user_ids: Sequence[str]) -> QuerySet[Note]:
    """Return the notes that are or once were about one of the users, deleted ones too."""
    once = NoteVersion.objects.of(tenant).filter(user_id__in=user_ids).values("note")
    return Note.objects.of(tenant).filter(Q(user_id__in=user_ids) | Q(id__in=once))


def homes_of(*, tenant: Tenant, note_ids: Sequence[uuid.UUID]) -> set[uuid.UUID | None]:
    """Return the conversations that notes belong to; None stands for those of no one."""
    homes = Note.objects.of(tenant).values_list("conversation_id", flat=True)
    return {home for ids in in_batches(note_ids) for home in homes.filter(id__in=ids)}


def erase_notes(*, tenant: Tenant, note_ids: Sequence[uuid.UUID]) -> Counter[str]:
    """Delete notes and what they were before; return how many notes and earlier versions.

    What was posted under their idempotency keys is not stored again.
    """
    counts: Counter[str] = Counter()
    for ids in in_batches(note_ids):
        rows = Note.objects.of(tenant).filter(id__in=ids)
        forget_keys(rows, among=Note.objects.of(tenant), tenant=tenant, place=tenant.id)
        counts["note_versions"] += NoteVersion.objects.of(tenant).filter(note__in=ids).delete()[0]
        counts["notes"] += rows.delete()[0]
    return counts


def erase_links(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> tuple[int, set[uuid.UUID]]:
    """Delete the links from and to memories; return how many, and the memories they led from."""
    erased, origins = 0, set[uuid.UUID]()
    for ids in in_batches(memory_ids):
        rows = Link.objects.of(tenant).filter(Q(from_memory__in=ids) | Q(to_memory__in=ids))
        origins |= set(rows.values_list("from_memory_id", flat=True))
        erased += rows.delete()[0]
    return erased, origins - set(memory_ids)

"""Erases notes with all their versions, and links, as part of an erasure."""

import uuid
from collections import Counter
from collections.abc import Sequence

from django.db.models import Q, QuerySet

from episodic.erased_keys import forget_keys
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from wings.notes.models import Link, Note, NoteVersion


def notes_about(tenant: Tenant, user_ids: Sequence[str]) -> QuerySet[Note]:
    """Return the notes that are or were about one of the users, including deleted ones."""
    once = NoteVersion.objects.of(tenant).filter(user_id__in=user_ids).values("note")
    return Note.objects.of(tenant).filter(Q(user_id__in=user_ids) | Q(id__in=once))


def homes_of(*, tenant: Tenant, note_ids: Sequence[uuid.UUID]) -> set[uuid.UUID | None]:
    """Return the conversations of notes; None stands for notes without one."""
    homes = Note.objects.of(tenant).values_list("conversation_id", flat=True)
    return {home for ids in in_batches(note_ids) for home in homes.filter(id__in=ids)}


def erase_notes(*, tenant: Tenant, note_ids: Sequence[uuid.UUID]) -> Counter[str]:
    """Delete notes and earlier versions; return how many of each.

    A retry under their idempotency keys is refused.
    """
    counts: Counter[str] = Counter()
    for ids in in_batches(note_ids):
        rows = Note.objects.of(tenant).filter(id__in=ids)
        forget_keys(rows, among=Note.objects.of(tenant), tenant=tenant, place=tenant.id)
        counts["note_versions"] += NoteVersion.objects.of(tenant).filter(note__in=ids).delete()[0]
        counts["notes"] += rows.delete()[0]
    return counts


def erase_links(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> tuple[int, set[uuid.UUID]]:
    """Delete links from and to memories; return how many, and the linking memories."""
    erased, origins = 0, set[uuid.UUID]()
    for ids in in_batches(memory_ids):
        rows = Link.objects.of(tenant).filter(Q(from_memory__in=ids) | Q(to_memory__in=ids))
        origins |= set(rows.values_list("from_memory_id", flat=True))
        erased += rows.delete()[0]
    return erased, origins - set(memory_ids)

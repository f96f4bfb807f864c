"""Remembers idempotency keys whose requests were erased, and refuses a late retry."""

import uuid
from collections.abc import Iterable

from episodic.models import ErasedKey
from memoryproject.edge.errors import Gone
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.secret_form import hash_secret


def remember_erased_keys(*, tenant: Tenant, place: uuid.UUID, keys: Iterable[str]) -> None:
    """Note that what was posted under these keys was erased, in the caller's transaction.

    `place` is what a key is unique in: the row of a conversation, or the tenant for notes.
    """
    rows = [ErasedKey(tenant=tenant, digest=_digest(place, key)) for key in sorted(set(keys))]
    ErasedKey.objects.bulk_create(rows, ignore_conflicts=True)


def refuse_erased_key(*, tenant: Tenant, place: uuid.UUID, key: str) -> None:
    """Raise Gone where what was posted under the key was erased."""
    if ErasedKey.objects.of(tenant).filter(digest=_digest(place, key)).exists():
        raise Gone("What was posted under this Idempotency-Key was erased.")


def _digest(place: uuid.UUID, key: str) -> str:
    return hash_secret(f"{place} {key}")

"""Remembers idempotency keys whose requests were erased, and refuses a late retry."""

import uuid
from typing import Any

from django.db.models import QuerySet

from episodic.models import ErasedKey
from memoryproject.database.batches import in_batches
from memoryproject.edge.errors import Gone
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.secret_form import hash_secret


def forget_keys(
    erased: QuerySet[Any], *, among: QuerySet[Any], tenant: Tenant, place: uuid.UUID
) -> None:
    """Remember the idempotency keys of rows to be erased, and remove them from other rows.

    Rows of the same batch (`among`) hold a hash of the whole request, against which guesses of the
    erased text could be tested. `place`: where a key is unique, a conversation's row or, for notes,
    the tenant.
    """
    posted = erased.filter(client_key__isnull=False).values_list("client_key", flat=True)
    keys = sorted(set(posted))
    rows = [ErasedKey(tenant=tenant, digest=_digest(place, key)) for key in keys]
    ErasedKey.objects.bulk_create(rows, ignore_conflicts=True)
    for some in in_batches(keys):
        among.filter(client_key__in=some).update(client_key=None, body_sha256="")


def refuse_erased_key(*, tenant: Tenant, place: uuid.UUID, key: str) -> None:
    """Raise Gone if the request sent under this key has been erased."""
    if ErasedKey.objects.of(tenant).filter(digest=_digest(place, key)).exists():
        raise Gone("What was posted under this Idempotency-Key was erased.")


def _digest(place: uuid.UUID, key: str) -> str:
    return hash_secret(f"{place} {key}")

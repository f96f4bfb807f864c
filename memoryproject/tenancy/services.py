"""Making tenants and keys, and finding the key behind a secret."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction

from memoryproject.errors import Conflict
from memoryproject.tenancy.fields import make_id
from memoryproject.tenancy.models import APIKey, Scope, Tenant

LAST_USED_STEP = timedelta(minutes=1)
REMEMBERED_FOR_S = 0.5
"""Of a key that was found: a busy agent's would else be looked up with every call."""
REMEMBERED_AT_MOST = 10_000
VOUCHED_FOR_S = 300.0
"""So long a key that was found counts where the database cannot be asked about it."""
_found_keys: dict[str, tuple[APIKey, float]] = {}
"""By keyed hash, with the time on the monotonic clock at which it was found."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; `secret` is shown once and stored nowhere."""

    key: APIKey
    secret: str


def get_or_create_tenant(*, name: str) -> Tenant:
    """Return the tenant of that name, made if there is none."""
    tenant, _ = Tenant.objects.get_or_create(name=name)
    return tenant


def create_api_key(
    *,
    tenant: Tenant,
    name: str,
    scopes: Sequence[str] = (),
    expires_at: datetime | None = None,
    key_id: uuid.UUID | None = None,
) -> NewKey:
    """Make a key; with no `scopes` it may do everything its tenant may.

    With `key_id`, which the caller makes, asking twice makes one key.

    Raises:
        Conflict: there is a key of that id; its secret cannot be shown again.
    """
    secret = f"mem_{secrets.token_urlsafe(32)}"
    try:
        with transaction.atomic():
            key = APIKey.objects.create(
                id=key_id or make_id(),
                tenant=tenant,
                name=name,
                prefix=secret[:10],
                hash=hash_secret(secret),
                scopes=list(scopes) or list(Scope.values),
                expires_at=expires_at,
            )
    except IntegrityError:
        made = "This key is made already. Its secret cannot be shown again."
        raise Conflict(made) from None
    return NewKey(key=key, secret=secret)


def revoke_api_key(*, key: APIKey, now: datetime) -> None:
    """End a key for good. Processes that have just found it believe it for half a second.

    Raises:
        Conflict: it is revoked already.
    """
    valid = APIKey.objects.of(key.tenant).filter(id=key.id, revoked_at=None)
    if valid.update(revoked_at=now) != 1:
        raise Conflict("This key is revoked already.")
    key.revoked_at = now
    _found_keys.pop(key.hash, None)


def hash_secret(secret: str) -> str:
    """Return the keyed hash under which a secret is stored."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def find_key(*, secret: str, now: datetime) -> APIKey | None:
    """Return the valid key behind `secret`, with its tenant; None if there is none.

    A key that was just found is believed for REMEMBERED_FOR_S: so long may one that is
    revoked still pass, and a change of its tenant's settings take. The lookup compares
    keyed hashes, so its timing tells nothing about secrets.
    """
    hashed = hash_secret(secret)
    key = _recall(hashed, within_s=REMEMBERED_FOR_S)
    if key is None:
        keys = APIKey.across_tenants.select_related("tenant")
        key = keys.filter(hash=hashed, revoked_at=None).first()
        _remember(hashed, key)
    return key if key is not None and _is_valid(key, now) else None


def find_key_seen_lately(*, secret: str, now: datetime) -> APIKey | None:
    """Return the key behind `secret` if this process found it within VOUCHED_FOR_S.

    For while the database is away: asks nobody, and so does not see a key revoked since.
    """
    key = _recall(hash_secret(secret), within_s=VOUCHED_FOR_S)
    return key if key is not None and _is_valid(key, now) else None


def _is_valid(key: APIKey, now: datetime) -> bool:
    return key.expires_at is None or key.expires_at > now


def _recall(hashed: str, *, within_s: float) -> APIKey | None:
    key, found_at = _found_keys.get(hashed, (None, 0.0))
    return key if time.monotonic() - found_at <= within_s else None


def _remember(hashed: str, key: APIKey | None) -> None:
    if key is None:
        _found_keys.pop(hashed, None)
        return
    if len(_found_keys) >= REMEMBERED_AT_MOST:
        _found_keys.clear()
    _found_keys[hashed] = (key, time.monotonic())


def record_use(*, key: APIKey, now: datetime) -> None:
    """Remember when the key was last used, to the minute."""
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        APIKey.objects.of(key.tenant).filter(id=key.id).update(last_used_at=now)
        key.last_used_at = now

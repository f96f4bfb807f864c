"""Creates tenants and keys, and finds the key of a secret."""

import time
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Scope, Tenant
from memoryproject.tenancy.secret_form import (
    has_check,
    has_form,
    hash_secret,
    make_secret,
    may_exist,
)
from memoryproject.text.cleaning import DEFANGED

LAST_USED_STEP = timedelta(minutes=1)
PREFIX_CHARACTERS = 10
GRACE = timedelta(days=1)
"""Time for which a replaced secret is still accepted."""
GRACE_AT_MOST = timedelta(days=90)
REMEMBERED_AT_MOST = 10_000
REFUSED_FOR_S = 60.0
"""Seconds for which a wrong secret is not looked up again for an address that guesses."""
_found_keys: dict[str, tuple[APIKey, float]] = {}
"""Keys found recently, by keyed hash, with their monotonic time."""
_refused: dict[str, float] = {}
"""Keyed hashes without a key, with their monotonic time."""


class NewKey(NamedTuple):
    """A new key; `secret` is shown once and not stored."""

    key: APIKey
    secret: str


def get_or_create_tenant(*, name: str) -> Tenant:
    tenant, _ = Tenant.objects.get_or_create(name=name)
    return tenant


def create_api_key(
    *,
    tenant: Tenant,
    name: str,
    scopes: Sequence[str] = (),
    expires_at: datetime | None = None,
    key_id: uuid.UUID | None = None,
    rate: int | None = None,
    user_ids: Sequence[str] = (),
    links: str = DEFANGED,
    default_scope: str = "",
) -> NewKey:
    """Create a key; without `scopes` it may do everything its tenant may.

    With a `key_id` from the caller, calling twice creates one key. `rate` is in calls a minute, 0
    for no limit, None for the server's. With `user_ids` it reads and writes only their data.
    `links`: how its answers print links. `default_scope`: scope of calls that name none; empty: by
    the tenant's settings.

    Raises:
        Conflict: there is a key of that id; its secret cannot be shown again.
    """
    secret = make_secret()
    try:
        with transaction.atomic():
            key = APIKey.objects.create(
                id=key_id or make_id(),
                tenant=tenant,
                name=name,
                prefix=secret[:PREFIX_CHARACTERS],
                hash=hash_secret(secret),
                scopes=list(scopes) or list(Scope.values),
                user_ids=list(user_ids),
                expires_at=expires_at,
                rate=rate,
                links=links,
                default_scope=default_scope,
            )
    except IntegrityError:
        message = "This key is made already. Its secret cannot be shown again."
        raise Conflict(message) from None
    return NewKey(key=key, secret=secret)


def revoke_api_key(*, key: APIKey, now: datetime) -> None:
    """Revoke a key permanently. Processes that have just found it accept it for half a second.

    Raises:
        Conflict: it is revoked already.
    """
    valid = APIKey.objects.of(key.tenant).filter(id=key.id, revoked_at=None)
    if valid.update(revoked_at=now) != 1:
        raise Conflict("This key is revoked already.")
    key.revoked_at = now
    _forget(key.hash, key.previous_hash)


def rotate_key(*, key: APIKey, now: datetime, grace: timedelta = GRACE) -> NewKey:
    """Give a key a new secret; the old one is accepted until `grace` is over.

    Without grace it is refused at once, or after half a second by processes that have just found
    it. A still older secret is refused from now on: there are never more than two.

    Raises:
        Conflict: the key is revoked or has expired, or its secret was replaced meanwhile.
        Problem: the grace is invalid.
    """
    if not timedelta(0) <= grace <= GRACE_AT_MOST:
        raise Problem(f"The grace is between none and {GRACE_AT_MOST.days} days.")
    if not _is_valid(key, now):
        raise Conflict("This key has expired.")
    secret, old = make_secret(), (key.hash, key.previous_hash)
    changed = {
        "hash": hash_secret(secret),
        "prefix": secret[:PREFIX_CHARACTERS],
        "previous_hash": key.hash if grace else None,
        "previous_until": now + grace if grace else None,
    }
    as_it_was = APIKey.objects.of(key.tenant).filter(id=key.id, hash=key.hash, revoked_at=None)
    if as_it_was.update(**changed) != 1:
        raise Conflict("This key is revoked, or its secret was replaced meanwhile.")
    for name, value in changed.items():
        setattr(key, name, value)
    _forget(*old)
    return NewKey(key=key, secret=secret)


def is_worth_a_look(secret: str, *, now: datetime) -> bool:
    """Return whether to look up a secret from an address that guesses.

    Yes if only this server can have made it, or if this process found it recently; no if a lookup
    has just failed, as for a revoked key.
    """
    hashed = hash_secret(secret)
    if time.monotonic() - _refused.get(hashed, -REFUSED_FOR_S) < REFUSED_FOR_S:
        return False
    return find_key_seen_lately(secret=secret, now=now) is not None or has_check(secret)


def find_key(*, secret: str, now: datetime) -> APIKey | None:
    """Return the valid key of `secret`, with its tenant, or None.

    A key just found is cached for KEY_REMEMBERED_S: for that time a revoked key may still pass, and
    changed settings of its tenant may not apply. The lookup compares keyed hashes, so its timing
    reveals nothing about secrets.
    """
    if not may_exist(secret):
        if has_form(secret):
            # If the key pepper was lost, every key is looked up, and a connection reports it.
            connection.ensure_connection()
        return None
    hashed = hash_secret(secret)
    key = _recall(hashed, within_s=settings.KEY_REMEMBERED_S)
    if key is None:
        with walls.across_tenants():
            keys = APIKey.across_tenants.select_related("tenant").filter(revoked_at=None)
            key = keys.filter(Q(hash=hashed) | Q(previous_hash=hashed)).first()
        _remember(hashed, key)
    return _accept(hashed, key, now)


def find_key_seen_lately(*, secret: str, now: datetime) -> APIKey | None:
    """Return the key of `secret` if this process found it within KEY_VOUCHED_S.

    Used while the database is unavailable: without a query, so a key revoked since is accepted.
    """
    hashed = hash_secret(secret)
    return _accept(hashed, _recall(hashed, within_s=settings.KEY_VOUCHED_S), now)


def _accept(hashed: str, key: APIKey | None, now: datetime) -> APIKey | None:
    """Return the key if a secret of this hash is valid for it now."""
    if key is None or not _is_valid(key, now):
        return None
    opens = hashed == key.hash or (key.previous_until is not None and now < key.previous_until)
    return key if opens else None


def _is_valid(key: APIKey, now: datetime) -> bool:
    return key.expires_at is None or key.expires_at > now


def _recall(hashed: str, *, within_s: float) -> APIKey | None:
    key, found_at = _found_keys.get(hashed, (None, 0.0))
    return key if time.monotonic() - found_at <= within_s else None


def _forget(*hashes: str | None) -> None:
    for hashed in hashes:
        _found_keys.pop(hashed or "", None)


def _remember(hashed: str, key: APIKey | None) -> None:
    if key is None:
        _found_keys.pop(hashed, None)
        if len(_refused) >= REMEMBERED_AT_MOST:
            _refused.clear()
        _refused[hashed] = time.monotonic()
        return
    if len(_found_keys) >= REMEMBERED_AT_MOST:
        _found_keys.clear()
    _found_keys[hashed] = (key, time.monotonic())


def record_use(*, key: APIKey, now: datetime) -> None:
    """Store when the key was last used, to the minute."""
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        APIKey.objects.of(key.tenant).filter(id=key.id).update(last_used_at=now)
        key.last_used_at = now

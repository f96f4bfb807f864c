"""Making tenants and keys, and finding the key behind a secret."""

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
"""Time for which a secret that was replaced is still accepted."""
GRACE_AT_MOST = timedelta(days=90)
REMEMBERED_AT_MOST = 10_000
REFUSED_FOR_S = 60.0
"""Seconds for which a wrong secret is not looked up again for a place that guesses."""
_found_keys: dict[str, tuple[APIKey, float]] = {}
"""Keys that were found, by keyed hash, with the time on the monotonic clock."""
_refused: dict[str, float] = {}
"""Keyed hashes that opened nothing, with the time on the monotonic clock."""


class NewKey(NamedTuple):
    """A key just made; `secret` is shown once and stored nowhere."""

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
    """Make a key; with no `scopes` it may do everything its tenant may.

    With `key_id`, which the caller makes, asking twice makes one key. `rate` is in calls a
    minute, 0 for no limit, None for the server's. With `user_ids` it sees and writes only what
    is theirs. `links`: how its answers print them. `default_scope`: where calls look that do
    not say; empty: as the tenant's settings say.

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
    """End a key for good. Processes that have just found it believe it for half a second.

    Raises:
        Conflict: it is revoked already.
    """
    valid = APIKey.objects.of(key.tenant).filter(id=key.id, revoked_at=None)
    if valid.update(revoked_at=now) != 1:
        raise Conflict("This key is revoked already.")
    key.revoked_at = now
    _forget(key.hash, key.previous_hash)


def rotate_key(*, key: APIKey, now: datetime, grace: timedelta = GRACE) -> NewKey:
    """Give a key another secret; the one so far is accepted until `grace` is over.

    With no grace it is refused at once, by processes that have just found it after half a
    second. A secret from before, whose own grace still lasted, is refused from now on:
    there are never more than two.

    Raises:
        Conflict: the key is revoked or has expired, or its secret was replaced meanwhile.
        Problem: the grace is none.
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
    """Return whether a secret is to be looked up though it comes from where others guess.

    It is when only this server can have made it, or when this process has found it lately;
    and not when it has opened nothing just now, as one that is revoked.
    """
    hashed = hash_secret(secret)
    if time.monotonic() - _refused.get(hashed, -REFUSED_FOR_S) < REFUSED_FOR_S:
        return False
    return find_key_seen_lately(secret=secret, now=now) is not None or has_check(secret)


def find_key(*, secret: str, now: datetime) -> APIKey | None:
    """Return the valid key behind `secret`, with its tenant; None if there is none.

    A key that was just found is believed for KEY_REMEMBERED_S: so long may one that is
    revoked still pass, and a change of its tenant's settings take. The lookup compares
    keyed hashes, so its timing tells nothing about secrets.
    """
    if not may_exist(secret):
        if has_form(secret):
            # So every one looks where the key pepper was lost: a connection looks, and says so.
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
    """Return the key behind `secret` if this process found it within KEY_VOUCHED_S.

    For while the database is away: asks nobody, and so does not see a key revoked since.
    """
    hashed = hash_secret(secret)
    return _accept(hashed, _recall(hashed, within_s=settings.KEY_VOUCHED_S), now)


def _accept(hashed: str, key: APIKey | None, now: datetime) -> APIKey | None:
    """Return the key if a secret of this hash opens it now."""
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
    """Remember when the key was last used, to the minute."""
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        APIKey.objects.of(key.tenant).filter(id=key.id).update(last_used_at=now)
        key.last_used_at = now

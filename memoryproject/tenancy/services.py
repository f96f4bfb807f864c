"""Making tenants and keys, and finding the key behind a secret."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from memoryproject.tenancy.models import APIKey, Scope, Tenant

LAST_USED_STEP = timedelta(minutes=1)


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
    *, tenant: Tenant, name: str, scopes: Sequence[str] = (), expires_at: datetime | None = None
) -> NewKey:
    """Make a key; with no `scopes` it may do everything its tenant may."""
    secret = f"mem_{secrets.token_urlsafe(32)}"
    key = APIKey.objects.create(
        tenant=tenant,
        name=name,
        prefix=secret[:10],
        hash=hash_secret(secret),
        scopes=list(scopes) or list(Scope.values),
        expires_at=expires_at,
    )
    return NewKey(key=key, secret=secret)


def hash_secret(secret: str) -> str:
    """Return the keyed hash under which a secret is stored."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def find_key(*, secret: str, now: datetime) -> APIKey | None:
    """Return the valid key behind `secret`, with its tenant; None if there is none.

    The lookup compares keyed hashes, so its timing tells nothing about secrets.
    """
    in_force = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))
    keys = APIKey.across_tenants.select_related("tenant")
    return keys.filter(in_force, hash=hash_secret(secret)).first()


def record_use(*, key: APIKey, now: datetime) -> None:
    """Remember when the key was last used, to the minute."""
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        APIKey.objects.of(key.tenant).filter(id=key.id).update(last_used_at=now)

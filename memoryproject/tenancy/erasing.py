"""Deletes a tenant: its keys, their usage, and its own row."""

from collections.abc import Sequence
from datetime import datetime

from memoryproject.database.clock import execute
from memoryproject.tenancy.models import APIKey, KeyUsage, Membership, StoredSize, Tenant


def revoke_all(tenant: Tenant, *, now: datetime) -> None:
    """Revoke all keys of a tenant. Processes accept a recently found key for half a second."""
    APIKey.objects.of(tenant).filter(revoked_at=None).update(revoked_at=now)


def forget_users(tenant: Tenant, user_ids: Sequence[str], *, now: datetime) -> int:
    """Remove users from the keys bound to them; return how many keys these were.

    A key bound to nobody may access all of its tenant, so one that loses its last user is revoked.
    """
    bound = APIKey.objects.of(tenant).filter(user_ids__overlap=list(user_ids)).order_by("id")
    keys = list(bound.select_for_update())
    for key in keys:
        key.user_ids = [user_id for user_id in key.user_ids if user_id not in user_ids]
        if not key.user_ids:
            key.revoked_at = key.revoked_at or now
        key.save(update_fields=["user_ids", "revoked_at"])
    return len(keys)


def erase_tenant(tenant: Tenant) -> int:
    """Delete a tenant that has nothing but keys left; return how many keys it had."""
    ids = list(APIKey.objects.of(tenant).values_list("id", flat=True))
    execute("DELETE FROM tenancy_allowance WHERE owner = ANY(%s)", [[*ids, tenant.id]])
    for model in (StoredSize, KeyUsage, Membership):
        model.objects.of(tenant).delete()
    keys = APIKey.objects.of(tenant).delete()[0]
    Tenant.objects.filter(id=tenant.id).delete()
    return keys

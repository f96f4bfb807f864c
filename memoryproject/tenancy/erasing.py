"""The end of a tenant: its keys, what is counted of them, and its own row."""

from datetime import datetime

from memoryproject.database.clock import execute
from memoryproject.tenancy.models import APIKey, KeyUsage, Membership, StoredSize, Tenant


def revoke_all(tenant: Tenant, *, now: datetime) -> None:
    """End all keys of a tenant. Processes believe one they have just found for half a second."""
    APIKey.objects.of(tenant).filter(revoked_at=None).update(revoked_at=now)


def erase_tenant(tenant: Tenant) -> int:
    """Delete a tenant of which nothing is left but keys; return how many keys it had."""
    ids = list(APIKey.objects.of(tenant).values_list("id", flat=True))
    execute("DELETE FROM tenancy_allowance WHERE owner = ANY(%s)", [[*ids, tenant.id]])
    for model in (StoredSize, KeyUsage, Membership):
        model.objects.of(tenant).delete()
    keys = APIKey.objects.of(tenant).delete()[0]
    Tenant.objects.filter(id=tenant.id).delete()
    return keys

"""Creates and deletes links between memories of one tenant."""

import uuid

from django.db import IntegrityError, transaction
from django.db.models import Exists, Q

from indexing.kinds import LinkType
from indexing.models import Memory, MemoryKind
from indexing.services import tell_mirror_of
from memoryproject.edge.errors import NotFound, Problem, get_row
from memoryproject.tenancy.models import Tenant
from wings.notes import queries
from wings.notes.models import Link

NO_MEMORY = "There is no such memory."


def add_link(
    *,
    tenant: Tenant,
    actor: str,
    made_by: Link.MadeBy,
    from_id: uuid.UUID,
    to_id: uuid.UUID,
    link_type: LinkType,
) -> tuple[Link, bool]:
    """Create a link from one memory to another; return it, and whether it is new.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
        Problem: both are the same.
    """
    if from_id == to_id:
        raise Problem(
            "The request has errors.", fields={"to_id": ["A memory is not linked to itself."]}
        )
    with transaction.atomic():
        for name, memory_id in {"from_id": from_id, "to_id": to_id}.items():
            if not has_memory(tenant=tenant, memory_id=memory_id):
                raise NotFound(NO_MEMORY, fields={name: [NO_MEMORY]})
        try:
            link, is_new = Link.objects.of(tenant).get_or_create(
                tenant=tenant,
                from_memory_id=from_id,
                to_memory_id=to_id,
                link_type=link_type,
                defaults={"actor": actor, "made_by": made_by},
            )
        except IntegrityError:  # an end was erased in between
            raise NotFound(NO_MEMORY) from None
        if is_new:
            tell_mirror_of(tenant=tenant, memory_id=from_id)
    return link, is_new


def delete_link(*, tenant: Tenant, link_id: uuid.UUID) -> None:
    with transaction.atomic():
        link = get_row(Link.objects.of(tenant).select_for_update(), "link", id=link_id)
        link.delete()
        tell_mirror_of(tenant=tenant, memory_id=link.from_memory_id)


def has_memory(*, tenant: Tenant, memory_id: uuid.UUID) -> bool:
    """Return whether a tenant has a memory of that id; deleted notes do not count."""
    is_active = Exists(queries.active_notes(tenant=tenant).filter(id=memory_id))
    memories = Memory.objects.of(tenant).filter(~Q(kind=MemoryKind.NOTE) | is_active)
    return memories.filter(id=memory_id).exists()

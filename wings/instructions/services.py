"""Saves versions of instructions, undoes the newest, and finds what is in effect."""

from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from memoryproject.edge.errors import NotFound
from memoryproject.tenancy.models import Tenant
from semantic.engines import Instructions
from wings.instructions.models import ENTRIES, InstructionVersion

ENTRIES_AT_MOST = 20
"""Number of entries of each kind: they are in each prompt that extracts facts."""
ENTRY_AT_MOST = 120
"""Characters of an entry, and of a word's meaning."""
WORD_AT_MOST = 40
"""Characters of a word with a meaning, and of a label."""


def list_versions(tenant: Tenant, agent_id: str) -> QuerySet[InstructionVersion]:
    """Return the versions of an agent, or of the whole tenant, that are not undone, newest first.

    Uses index: instructions_by_agent.
    """
    rows = InstructionVersion.objects.of(tenant).filter(agent_id=agent_id, undone_at=None)
    return rows.order_by("-id")


def find_version(tenant: Tenant, agent_id: str) -> InstructionVersion | None:
    """Return the version in effect."""
    return list_versions(tenant, agent_id).first()


def find_instructions(
    tenant: Tenant, agent_id: str, *, tried: Instructions | None = None
) -> Instructions:
    """Return what holds for an agent: the tenant's instructions, and its own.

    `tried` replaces the saved version for this `agent_id`.
    """
    found: list[Instructions] = []
    for agent in dict.fromkeys(["", agent_id]):
        if tried is not None and agent == agent_id:
            found.append(tried)
        elif version := find_version(tenant, agent):
            found.append(version.read())
    return Instructions(*(tuple(chain(*map(attrgetter(name), found))) for name in ENTRIES))


def save_version(
    *, tenant: Tenant, agent_id: str, actor: str, **entries: Any
) -> InstructionVersion:
    """Save a new version, in effect from now on. `entries` are by the names in `ENTRIES`."""
    version = InstructionVersion(tenant=tenant, agent_id=agent_id, actor=actor)
    for name, value in entries.items():
        setattr(version, name, value)
    version.save(force_insert=True)
    version.refresh_from_db()
    return version


def undo_newest(*, tenant: Tenant, agent_id: str, actor: str, now: datetime) -> InstructionVersion:
    """Undo the version in effect, so that the one before it is; return the undone one.

    Raises:
        NotFound: there is none.
    """
    with transaction.atomic():
        version = list_versions(tenant, agent_id).select_for_update().first()
        if version is None:
            raise NotFound("No instructions are in effect.")
        version.undone_at, version.undone_by = now, actor
        version.save(update_fields=["undone_at", "undone_by"])
    return version

"""Queue the making of vectors that are missing."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from indexing.queries import conversations_without_vectors
from indexing.services import EVERYTHING
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai.embeddings import get_embedder
from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Tenant


class Command(BaseCommand):
    help = (
        "Queue a job for each conversation, and one for the notes that belong to none, in which "
        "the configured embedding model has not made every vector: after a change of the model. "
        "Workers do it; search goes on meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="name of one tenant; without it all")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["tenant"]
        tenants = [find_tenant(name)] if name else Tenant.objects.order_by("name")
        model = get_embedder().name
        for tenant in tenants:
            conversations = conversations_without_vectors(tenant=tenant, model=model)
            for conversation_id in conversations:
                enqueue(
                    tenant=tenant,
                    kind=Kind.EMBED,
                    scope=conversation_id or tenant.id,
                    input={EVERYTHING: True},
                )
            beside = conversations.count(None)
            more = ", and notes beside them" if beside else ""
            count = len(conversations) - beside
            self.stdout.write(f"{tenant.name}: {count} conversations{more}")

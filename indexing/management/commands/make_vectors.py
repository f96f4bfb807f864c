"""Change the embedding model: make vectors that are missing, pause, and delete the old ones.

Have workers make all missing vectors of the configured embedding model and, during a change, of the
previous one; print how many conversations lack some. Search continues meanwhile. A paused change is
resumed.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from indexing import model_change
from indexing.queries import conversations_without_vectors
from memoryproject.ai.embeddings import get_embedder, get_embedders
from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Tenant


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="name of one tenant; default: all")
        action = parser.add_mutually_exclusive_group()
        action.add_argument(
            "--status", action="store_true", help="only print how many lack vectors"
        )
        action.add_argument("--pause", action="store_true", help="stop making them, within seconds")
        action.add_argument(
            "--delete", metavar="MODEL", help="delete the vectors of a model that is no longer used"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, model = options["tenant"], options["delete"]
        if model in [embedder.name for embedder in get_embedders()]:
            raise CommandError(f"{model} is in use.")
        for tenant in [find_tenant(name)] if name else Tenant.objects.order_by("name"):
            if model:
                count = model_change.delete_vectors(tenant, model=model)
                self.stdout.write(f"{tenant.name}: {count} vectors deleted")
                continue
            lacking = conversations_without_vectors(tenant=tenant, model=get_embedder().name)
            if options["pause"]:
                model_change.pause_move(tenant)
            elif lacking and not options["status"]:
                model_change.start_move(tenant)
            beside = ", and notes beside them" if None in lacking else ""
            moving = model_change.find_move(tenant).exists()
            state = "" if not lacking else "; being made" if moving else "; not being made"
            self.stdout.write(
                f"{tenant.name}: {len(lacking) - lacking.count(None)} conversations{beside}{state}"
            )

"""Repeat, with the language model, work that the offline engine did as a fallback.

Degraded episodes and facts are reverted, and jobs make them again with the model, from the same
messages; with --offline, the current offline engine makes facts of an older one again. With --count
they are only counted. What people have changed since stays. Each conversation is done separately,
so you can run an interrupted command again, and each revert is a changeset that can be reverted.
"""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from memoryproject.ai import breaker
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act
from wings.rollback import relearning


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="name of one tenant; default: all")
        parser.add_argument("--count", action="store_true", help="only print how many there are")
        parser.add_argument(
            "--offline", action="store_true", help="the facts of an older offline engine"
        )
        parser.add_argument("--actor", default="operator", help="the actor on record")

    def handle(self, *args: Any, **options: Any) -> None:
        is_offline, only_counts = options["offline"], options["count"]
        if not is_offline:
            _check_model(only_counts=only_counts)
        find = relearning.find_old_offline if is_offline else relearning.find_degraded
        learn = relearning.learn_facts_again if is_offline else relearning.learn_again
        engine = "offline engine of now" if is_offline else "language model"
        name = options["tenant"]
        for tenant in [find_tenant(name)] if name else Tenant.objects.order_by("name"):
            ids = find(tenant=tenant)
            act = Act(tenant, options["actor"], f"Learnt again by the {engine}.")
            for conversation_id in [] if only_counts else ids:
                learn(act=act, conversation_id=conversation_id)
            done = "to learn again" if only_counts else "being learnt again"
            self.stdout.write(f"{tenant.name}: {len(ids)} conversations {done}")


def _check_model(*, only_counts: bool) -> None:
    """Raise CommandError where no language model could learn."""
    if settings.LLM == "offline":
        raise CommandError("There is no language model: set MEMORY_LLM.")
    away = breaker.find_models_away().first()
    if away is not None and not only_counts:
        raise CommandError(f"{away.model} does not answer. {away.fault}".rstrip())

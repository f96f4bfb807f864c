"""Have the language model make anew what the offline engine made while it gave no useful answer.

Episodes and facts that are marked as degraded are taken back and made once more, from the same
messages, by jobs; with --count they are only counted. What people have changed since stays. Each
conversation is done by itself, so that a command that was interrupted goes on when it is given
again, and each revert is a changeset that can be reverted.
"""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from memoryproject.ai import breaker
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act
from semantic.relearning import find_degraded, learn_again


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="name of one tenant; without it all")
        parser.add_argument("--count", action="store_true", help="only say how many there are")
        parser.add_argument("--actor", default="operator", help="who does it; kept")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.LLM == "offline":
            raise CommandError("There is no language model: set MEMORY_LLM.")
        away = breaker.find_models_away().first()
        if away is not None and not options["count"]:
            raise CommandError(f"{away.model} does not answer. {away.fault}".rstrip())
        name = options["tenant"]
        for tenant in [find_tenant(name)] if name else Tenant.objects.order_by("name"):
            ids = find_degraded(tenant=tenant)
            act = Act(tenant, options["actor"], "Learnt again by the language model.")
            for conversation_id in [] if options["count"] else ids:
                learn_again(act=act, conversation_id=conversation_id)
            done = "to learn again" if options["count"] else "being learnt again"
            self.stdout.write(f"{tenant.name}: {len(ids)} conversations {done}")

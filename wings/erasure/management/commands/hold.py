"""Keep a conversation or a tenant from being erased, or let it go again.

Place a legal hold: until it is lifted, nothing of a conversation, or without one of the whole
tenant, can be erased. Without --reason list the holds.
"""

import getpass
import uuid
from typing import Any

from django.core.management.base import CommandParser

from episodic.queries import get_by_external_id
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant
from memoryproject.tenancy.walls import acting_for
from wings.erasure import services
from wings.erasure.parts import holds_of


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument(
            "--conversation", type=uuid.UUID, help="the agent's id of the conversation"
        )
        parser.add_argument("--reason", help="the reason; kept")
        parser.add_argument("--lift", type=uuid.UUID, metavar="ID", help="end a hold")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        actor = f"command, {getpass.getuser()}"
        with acting_for(tenant.id):
            if options["lift"]:
                services.lift_hold(tenant=tenant, hold_id=options["lift"], actor=actor)
            elif options["reason"]:
                home, name = None, options["conversation"]
                if name:
                    home = get_by_external_id(tenant, name).id
                services.place_hold(
                    tenant=tenant, conversation_id=home, actor=actor, reason=options["reason"]
                )
            for hold in holds_of(tenant).order_by("id"):
                whose = hold.conversation_id or "the whole tenant"
                self.stdout.write(f"{hold.id}  {whose}: {hold.reason}")

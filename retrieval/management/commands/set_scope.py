"""Set where calls look that do not say, for a tenant.

Set where calls look that name no scope: in their conversation, in all conversations of its user,
or in the tenant. A key may have a default of its own, and a call may say it. Without a scope:
print only. And pause or resume the moving of conversations to their users' scopes.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from episodic import moving
from memoryproject.tenancy.management.naming import find_tenant
from retrieval.api.scoped import DEFAULT
from retrieval.request import CONVERSATION, SCOPES


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument("scope", nargs="?", choices=SCOPES, help="where to look from now on")
        moves = parser.add_mutually_exclusive_group()
        moves.add_argument(
            "--pause-moves",
            action="store_true",
            help="let conversations that are to be moved to their users wait",
        )
        moves.add_argument("--resume-moves", action="store_true", help="go on with them")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        if options["scope"]:
            tenant.change_setting(DEFAULT, options["scope"])
        if options["pause_moves"]:
            moving.pause_moves(tenant)
        if options["resume_moves"]:
            moving.resume_moves(tenant)
        paused = " (paused)" if tenant.settings.get(moving.PAUSED) else ""
        self.stdout.write(f"scope={tenant.settings.get(DEFAULT, CONVERSATION)}")
        self.stdout.write(f"conversations to move={moving.count_moves(tenant)}{paused}")

"""Make, list and delete retention policies.

Erase a tenant's old data automatically, within the hour, if it meets all conditions. Prints how
much that would be now; without --apply nothing is set. Without a kind list the policies.
"""

import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from indexing.kinds import SourceType
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant
from memoryproject.tenancy.walls import acting_for
from wings.erasure import services
from wings.erasure.models import Kept, RetentionPolicy
from wings.erasure.parts import count_due

COLUMNS = ("kind", "source_type", "older_than_days", "unserved_days", "keep_newest")


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument("kind", nargs="?", choices=Kept.values)
        parser.add_argument("--older-than-days", type=int, help="no new message or version since")
        parser.add_argument("--unserved-days", type=int, help="not served in an answer since")
        parser.add_argument("--keep-newest", type=int, help="number to keep, the newest")
        parser.add_argument(
            "--source-type",
            default="",
            choices=[one.value for one in SourceType],
            help="source type of the notes",
        )
        parser.add_argument("--apply", action="store_true", help="activate the policy")
        parser.add_argument("--delete", metavar="ID", help="delete a policy")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        with acting_for(tenant.id):
            policies = RetentionPolicy.objects.of(tenant)
            if options["delete"]:
                gone = [one for one in policies if str(one.id) == options["delete"]]
                if not gone:
                    raise CommandError("The tenant has no such policy.")
                policies.filter(id=gone[0].id).delete()
            elif options["kind"]:
                columns = {name: options[name] for name in COLUMNS}
                actor = f"command, {getpass.getuser()}"
                policy = RetentionPolicy(tenant=tenant, actor=actor, **columns)
                self._set(policy, options["apply"])
            for policy in policies.order_by("id"):
                self.stdout.write(f"{policy.id}  {policy}")

    def _set(self, policy: RetentionPolicy, is_meant: bool) -> None:
        services.check_policy(policy)
        counts = ", ".join(f"{count} {kind}" for kind, count in count_due(policy).items())
        self.stdout.write(f"{policy}: {counts} now")
        if is_meant:
            policy.save(force_insert=True)

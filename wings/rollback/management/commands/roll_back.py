"""Roll back one source: quarantine its messages since some time.

Quarantine messages of a key, a conversation, a speaker or a role since some time, and revert what
was made from them. Everything is kept, and you can lift the quarantine later. Without --reason:
count only.
"""

import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser

from episodic.models import Role, Withholding
from episodic.queries import get_by_external_id
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant, read_moment
from memoryproject.tenancy.models import APIKey, Tenant
from wings.rollback.rollback import preview, roll_back


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        parser.add_argument("--since", required=True, help="as in 2026-03-02T09:00:00Z")
        parser.add_argument("--key", help="first characters of the API key that posted it")
        parser.add_argument(
            "--conversation", type=uuid.UUID, help="the agent's id of the conversation"
        )
        parser.add_argument("--speaker", default="", help="name of the messages")
        parser.add_argument("--role", default="", choices=Role.values)
        parser.add_argument(
            "--reason", default="", help="the reason; kept, and needed to roll back"
        )
        parser.add_argument("--actor", default="operator", help="the actor on record")

    def handle(self, *args: Any, **options: Any) -> None:
        source = make_row(find_tenant(options["tenant"]), options)
        if options["reason"]:
            self._undo(source)
        else:
            self._count(source)

    def _count(self, source: Withholding) -> None:
        counts, remaining, _ = preview(source)
        self._print_counts(counts)
        if remaining["conversations"]:
            rest = "{messages} messages in {conversations} more conversations".format(**remaining)
            self.stdout.write(f"not looked at: {rest}")
        self.stdout.write("Nothing was changed: give a --reason to do it.")

    def _undo(self, withholding: Withholding) -> None:
        roll_back(withholding)
        self._print_counts(withholding.made)
        if withholding.done_at is None:
            self.stdout.write("A worker goes on with it, one conversation after the other.")
        self.stdout.write(f"Quarantined as {withholding.id}; you can lift the quarantine.")

    def _print_counts(self, counts: dict[str, int]) -> None:
        for name, number in counts.items():
            self.stdout.write(f"{name}: {number}")


def make_row(tenant: Tenant, options: dict[str, Any]) -> Withholding:
    """Return the unsaved row that the options name, or raise CommandError."""
    key = conversation = None
    if options["key"]:
        keys = list(APIKey.objects.of(tenant).filter(prefix__startswith=options["key"])[:2])
        if len(keys) != 1:
            raise CommandError("These characters begin no key of the tenant, or several.")
        key = keys[0]
    if options["conversation"]:
        conversation = get_by_external_id(tenant, options["conversation"])
    return Withholding(
        tenant=tenant,
        actor=options["actor"],
        reason=options["reason"] or "Counted only.",
        since=read_moment(options["since"], option="--since"),
        posted_by=key,
        conversation=conversation,
        speaker=options["speaker"],
        role=options["role"],
    )

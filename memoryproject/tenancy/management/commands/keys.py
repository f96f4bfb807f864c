"""List the keys, or rotate, revoke or limit one.

Lists keys, oldest first, one line each with tabs between columns, without secrets. With KEY, an
option changes that key: only a new secret is printed to standard output, and shown once.
"""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from memoryproject.tenancy import limits, services
from memoryproject.tenancy.management.naming import ServiceCommand, find_named_key, read_limit
from memoryproject.tenancy.models import APIKey

COLUMNS = ("id", "begins", "tenant", "name", "scopes", "state", "last used", "ends", "rate")


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        named = "id of a key, or the first characters of its secret, as the list shows them"
        parser.add_argument("key", nargs="?", help=named)
        parser.add_argument("--tenant", help="list only those of one tenant, by its name")
        parser.add_argument(
            "--all", action="store_true", help="also list those that have expired or were revoked"
        )
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--rotate", action="store_true", help="give the key a new secret")
        act.add_argument(
            "--revoke", action="store_true", help="revoke it: within a second its calls are refused"
        )
        act.add_argument("--rate", help='calls a minute; 0: no limit; "default": the server\'s')
        parser.add_argument(
            "--grace-hours",
            type=float,
            default=services.GRACE / timedelta(hours=1),
            help="with --rotate: how long the old secret is still accepted; 0: it ends at once "
            "(default: 24)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        is_act = options["rotate"] or options["revoke"] or options["rate"] is not None
        if is_act and options["key"] is None:
            raise CommandError("Name a key.")
        if options["key"] is None:
            self._list(options["tenant"], now, ended=options["all"])
            return
        key = find_named_key(options["key"])
        if options["rotate"]:
            self.stdout.write(rotate(key, options["grace_hours"], now))
        elif options["revoke"]:
            services.revoke_api_key(key=key, now=now)
            self.stdout.write(f"revoked {key}")
        else:
            if options["rate"] is not None:
                limits.set_rate(key, read_limit("rate", options["rate"]))
            self.stdout.write("\t".join(describe(key, now)))

    def _list(self, tenant: str | None, now: datetime, *, ended: bool) -> None:
        keys = APIKey.across_tenants.select_related("tenant").order_by("id")
        if tenant is not None:
            keys = keys.filter(tenant__name=tenant)
        self.stdout.write("\t".join(COLUMNS))
        for key in keys:
            if ended or key.state_at(now) == "active":
                self.stdout.write("\t".join(describe(key, now)))


def rotate(key: APIKey, grace_hours: float, now: datetime) -> str:
    try:
        return services.rotate_key(key=key, now=now, grace=timedelta(hours=grace_hours)).secret
    except (OverflowError, ValueError) as error:
        raise CommandError("--grace-hours must be a number of hours.") from error


def describe(key: APIKey, now: datetime) -> list[str]:
    return [
        str(key.id),
        key.prefix,
        key.tenant.name,
        key.name,
        ",".join(key.scopes),
        key.state_at(now),
        to_minute(key.last_used_at, none="never"),
        to_minute(key.revoked_at or key.expires_at, none="-"),
        limits.describe_rate(key),
    ]


def to_minute(moment: datetime | None, *, none: str) -> str:
    return none if moment is None else f"{moment:%Y-%m-%dT%H:%MZ}"

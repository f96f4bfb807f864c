"""Show the keys that there are."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from memoryproject.tenancy import limits
from memoryproject.tenancy.models import APIKey

COLUMNS = ("id", "begins", "tenant", "name", "scopes", "state", "last used", "ends", "rate")


class Command(BaseCommand):
    help = "List keys, oldest first, a line each with tabs between columns; no secrets."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="name of a tenant; without it: of all")
        parser.add_argument("--all", action="store_true", help="also those that have ended")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        keys = APIKey.across_tenants.select_related("tenant").order_by("id")
        if options["tenant"] is not None:
            keys = keys.filter(tenant__name=options["tenant"])
        self.stdout.write("\t".join(COLUMNS))
        for key in keys:
            if options["all"] or key.state_at(now) == "active":
                self.stdout.write("\t".join(describe(key, now)))


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

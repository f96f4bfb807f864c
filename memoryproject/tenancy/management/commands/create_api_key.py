"""Make a key from the shell."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from memoryproject.tenancy import services
from memoryproject.tenancy.models import Scope


class Command(BaseCommand):
    help = (
        "Make an API key and print it, alone, on standard output. It is shown once. "
        "The tenant is made if there is none of that name."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True, help="name of the tenant")
        parser.add_argument("--name", default="key", help="who or what uses the key")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=Scope.values,
            help="what it may do; repeat for more than one; none given: everything",
        )
        parser.add_argument("--expires", help="when it ends, ISO 8601 with an offset")

    def handle(self, *args: Any, **options: Any) -> None:
        expires = parse_datetime(options["expires"]) if options["expires"] else None
        if options["expires"] and (expires is None or expires.tzinfo is None):
            raise CommandError("--expires must be a time with an offset: 2030-01-31T00:00:00Z")
        name = options["tenant"].strip()
        if not name or "\0" in name or len(name) > 200:
            raise CommandError("--tenant must be a name of 1 to 200 characters.")
        made = services.create_api_key(
            tenant=services.get_or_create_tenant(name=name),
            name=options["name"],
            scopes=options["scope"],
            expires_at=expires,
        )
        self.stdout.write(made.secret)

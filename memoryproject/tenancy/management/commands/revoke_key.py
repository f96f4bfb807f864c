"""End a key from the shell."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from memoryproject.tenancy import services
from memoryproject.tenancy.management.naming import NAMED, ServiceCommand, find_named_key


class Command(ServiceCommand):
    help = "End a key for good: within a second every call with it is refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help=NAMED)

    def handle(self, *args: Any, **options: Any) -> None:
        key = find_named_key(options["key"])
        services.revoke_api_key(key=key, now=timezone.now())
        self.stdout.write(f"revoked {key}")

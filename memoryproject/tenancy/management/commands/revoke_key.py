"""End a key from the shell."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memoryproject.edge.errors import Problem
from memoryproject.tenancy import services
from memoryproject.tenancy.management.naming import NAMED, find_named_key


class Command(BaseCommand):
    help = "End a key for good: within a second every call with it is refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help=NAMED)

    def handle(self, *args: Any, **options: Any) -> None:
        key = find_named_key(options["key"])
        try:
            services.revoke_api_key(key=key, now=timezone.now())
        except Problem as problem:
            raise CommandError(problem.message) from problem
        self.stdout.write(f"revoked {key}")

"""Give a key another secret from the shell.

Give a key a new secret and print it, alone, on standard output. It is shown once. The old secret
goes on being accepted until the grace is over.
"""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from memoryproject.tenancy import services
from memoryproject.tenancy.management.naming import NAMED, ServiceCommand, find_named_key


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help=NAMED)
        parser.add_argument(
            "--grace-hours",
            type=float,
            default=services.GRACE / timedelta(hours=1),
            help="how long the old secret is still accepted; 0: it ends at once (default: 24)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        key = find_named_key(options["key"])
        try:
            grace = timedelta(hours=options["grace_hours"])
            rotated = services.rotate_key(key=key, now=timezone.now(), grace=grace)
        except (OverflowError, ValueError) as error:
            raise CommandError("--grace-hours must be a number of hours.") from error
        self.stdout.write(rotated.secret)

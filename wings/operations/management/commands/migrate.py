"""Upgrades the database to this version, from any earlier one.

One process at a time; the others wait. The old embedded database is kept, and its rows are copied
into a new one if needed: docs/operating.md, under Upgrade.
"""

import logging
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as DjangoMigrate

from memoryproject.process import logs
from memoryproject.tenancy import installation
from wings.operations.upgrade import steps

logger = logging.getLogger("memory.upgrade")


class Command(DjangoMigrate):
    """Uses the owner's connection, as the serving role may not change tables."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
        parser.add_argument(
            "--keep-no-copy",
            action="store_true",
            help="change the embedded database without keeping a copy",
        )
        parser.add_argument(
            "--accept-pepper",
            action="store_true",
            help="go on with another key pepper, where the former one is lost for good: all API "
            "keys, webhook secrets and second factors so far are void",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Upgrade; with one of Django's own options, only do what the option says."""
        special = ("app_label", "check_unapplied", "fake", "fake_initial", "plan", "prune")
        if options["database"] != "owner" or any(options[name] for name in special):
            super().handle(*args, **options)
            return
        if options["accept_pepper"]:
            installation.note_pepper()
        if not options["skip_checks"]:
            self.check(databases=["owner"])
        steps.upgrade(
            report=self._say,
            verbosity=options["verbosity"],
            keeps_copy=not options["keep_no_copy"],
        )

    def _say(self, event: str) -> None:
        logs.report(event, logger=logger, out=self.stdout, form=settings.LOG_FORMAT)

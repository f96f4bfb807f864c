"""Run background workers."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from jobs import cluster
from jobs.supervisor import Supervisor
from memoryproject.process import logs

NICENESS = 10
"""Where processors are scarce, those who wait for an answer come first."""


class Command(BaseCommand):
    help = (
        "Run background workers in the foreground, with the reconciler beside them. Start "
        "as many as you like, on as many machines as you like. SIGTERM lets running jobs end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--inner", action="store_true", help="the cluster itself; the supervisor starts it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        logs.install_hooks()
        if options["inner"]:
            os.nice(NICENESS)
            cluster.run_cluster()
        else:
            Supervisor().run()

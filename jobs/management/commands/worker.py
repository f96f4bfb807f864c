"""Run background workers in the foreground, with the reconciler beside them.

Start as many as you like, on as many machines as you like. SIGTERM lets running jobs end. With
--drain do all due jobs in this process, wait for those of other workers, and return when none is
left.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from tqdm import tqdm

from jobs.draining import drain_jobs
from jobs.supervisor import Supervisor
from memoryproject.process import logs
from memoryproject.process.loading import load_shared_models


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--drain", action="store_true", help="do all due jobs, then return")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["drain"]:
            self._drain()
            return
        logs.install_hooks()
        load_shared_models()
        Supervisor().run()

    def _drain(self) -> None:
        with tqdm(unit=" jobs", desc="draining", disable=None) as bar:
            drained = drain_jobs(report=lambda total: bar.update(total - bar.n))
        self.stdout.write(
            f"{drained.ran} jobs run, {drained.later} wait for later, {drained.dead} dead"
        )

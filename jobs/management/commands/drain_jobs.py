"""Do the background work in this process."""

from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from jobs.draining import drain_jobs


class Command(BaseCommand):
    help = "Run what is due, wait for what other workers hold, and return when all is quiet."

    def handle(self, *args: Any, **options: Any) -> None:
        with tqdm(unit=" jobs", desc="draining", disable=None) as bar:
            drained = drain_jobs(report=lambda total: bar.update(total - bar.n))
        self.stdout.write(
            f"{drained.ran} jobs run, {drained.later} wait for later, {drained.dead} dead"
        )

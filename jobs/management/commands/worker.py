"""Run background workers in the foreground, with the reconciler beside them.

Start as many as you like, on as many machines as you like. SIGTERM lets running jobs end.
"""

from typing import Any

from django.core.management.base import BaseCommand

from jobs.supervisor import Supervisor
from memoryproject.process import logs
from memoryproject.process.loading import load_shared_models


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        logs.install_hooks()
        load_shared_models()
        Supervisor().run()

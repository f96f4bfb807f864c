from importlib import import_module

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Operation"

    def ready(self) -> None:
        """Register the checks, and make the queue safe before anything is put into it."""
        import_module("jobs.checks")
        import_module("jobs.wakeups").install()

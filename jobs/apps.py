from importlib import import_module

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        """Register the checks; importing them is all it takes."""
        import_module("jobs.checks")

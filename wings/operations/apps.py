from importlib import import_module

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "wings.operations"
    verbose_name = "Commands that use the whole product"

    def ready(self) -> None:
        """Register the checks, which importing them does, and the chore."""
        import_module("wings.operations.checks")
        check = import_module("wings.operations.stored_sizes").check_nightly
        import_module("jobs.flows").chores.append(check)

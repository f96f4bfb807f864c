from importlib import import_module

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "wings.operations"
    verbose_name = "Commands that use the whole product"

    def ready(self) -> None:
        """Register the checks; importing them is all it takes."""
        import_module("wings.operations.checks")

from importlib import import_module

from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "erasure"
    verbose_name = "Audit"

    def ready(self) -> None:
        """Register the job that erases, and what applies policies in time."""
        import_module("erasure.flow").register()
        import_module("erasure.schedule").register()

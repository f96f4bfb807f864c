from importlib import import_module

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Audit"

    def ready(self) -> None:
        """Register the jobs of a message's way: from segments to facts to reviews."""
        import_module("retrieval.flows").register()

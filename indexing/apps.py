from importlib import import_module

from django.apps import AppConfig

from memoryproject.process.loading import shared_models


class IndexingConfig(AppConfig):
    name = "indexing"
    verbose_name = "Search index"

    def ready(self) -> None:
        """Register the checks; importing them is all it takes."""
        import_module("indexing.checks")
        shared_models.append(import_module("indexing.detection").preload)

from importlib import import_module

from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "erasure"
    verbose_name = "Audit"

    def ready(self) -> None:
        import_module("erasure.services").register()

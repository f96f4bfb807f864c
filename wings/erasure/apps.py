from importlib import import_module

from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "wings.erasure"
    verbose_name = "Audit"

    def ready(self) -> None:
        import_module("wings.erasure.services").register()

from importlib import import_module

from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "erasure"
    verbose_name = "Audit"

    def ready(self) -> None:
        import_module("erasure.flow").register()
        services = import_module("erasure.services")
        import_module("jobs.flows").register_chore(services.apply_policies)

from django.apps import AppConfig

from memoryproject.tenancy.walls import watch_connections


class TenancyConfig(AppConfig):
    name = "memoryproject.tenancy"
    label = "tenancy"
    verbose_name = "Tenants and keys"

    def ready(self) -> None:
        watch_connections()

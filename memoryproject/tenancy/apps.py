from django.apps import AppConfig

from memoryproject.database import read_only


class TenancyConfig(AppConfig):
    name = "memoryproject.tenancy"
    label = "tenancy"
    verbose_name = "Operation"

    def ready(self) -> None:
        read_only.watch_connections()

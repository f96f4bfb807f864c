from django.apps import AppConfig
from django.db.backends.signals import connection_created

from memoryproject.database.read_only import watch


class TenancyConfig(AppConfig):
    name = "memoryproject.tenancy"
    label = "tenancy"
    verbose_name = "Operation"

    def ready(self) -> None:
        connection_created.connect(watch, dispatch_uid="memoryproject.database.read_only")

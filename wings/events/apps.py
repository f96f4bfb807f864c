from importlib import import_module

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "wings.events"
    verbose_name = "Operation"

    def ready(self) -> None:
        import_module("wings.events.flow").register()

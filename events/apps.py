from importlib import import_module

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"
    verbose_name = "Operation"

    def ready(self) -> None:
        import_module("events.flow").register()

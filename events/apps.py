from importlib import import_module

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"
    verbose_name = "Operation"

    def ready(self) -> None:
        """Register the job that delivers, and what time makes due."""
        import_module("events.flow").register()

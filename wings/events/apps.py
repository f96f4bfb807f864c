from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "wings.events"
    verbose_name = "Operation"

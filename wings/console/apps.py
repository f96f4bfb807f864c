from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "wings.console"
    verbose_name = "Console"

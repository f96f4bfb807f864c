from django.apps import AppConfig


class SemanticConfig(AppConfig):
    name = "semantic"
    verbose_name = "Memory"

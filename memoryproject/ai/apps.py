from django.apps import AppConfig


class AIConfig(AppConfig):
    name = "memoryproject.ai"
    label = "ai"
    verbose_name = "Models"

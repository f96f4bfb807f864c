from django.apps import AppConfig


class InstructionsConfig(AppConfig):
    name = "wings.instructions"
    verbose_name = "Memory"

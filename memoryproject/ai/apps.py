from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from memoryproject.ai.counting import COUNTERS
from memoryproject.process.loading import shared_models
from memoryproject.text import tokens


class AIConfig(AppConfig):
    name = "memoryproject.ai"
    label = "ai"
    verbose_name = "Operation"

    def ready(self) -> None:
        tokens.use(COUNTERS[settings.TOKEN_COUNTER])
        for module in ("embeddings", "providers"):
            shared_models.append(import_module(f"memoryproject.ai.{module}").preload)

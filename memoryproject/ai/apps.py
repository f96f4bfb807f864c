from django.apps import AppConfig
from django.conf import settings

from memoryproject.ai.counting import get_counter
from memoryproject.text import tokens


class AIConfig(AppConfig):
    name = "memoryproject.ai"
    label = "ai"
    verbose_name = "Operation"

    def ready(self) -> None:
        tokens.use(get_counter(settings.TOKEN_COUNTER))

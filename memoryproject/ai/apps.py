from django.apps import AppConfig
from django.conf import settings

from memoryproject import tokens
from memoryproject.ai.counting import get_counter


class AIConfig(AppConfig):
    name = "memoryproject.ai"
    label = "ai"
    verbose_name = "Models"

    def ready(self) -> None:
        tokens.use(get_counter(settings.TOKEN_COUNTER))

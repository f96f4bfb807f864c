"""System check: a budget that can be kept."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from jobs.spending import find_price


@register
def check_budget_can_be_kept(**options: Any) -> list[CheckMessage]:
    """Refuse a budget while nobody knows what the model costs: all work would wait."""
    is_kept = settings.DAILY_BUDGET is not None and settings.LLM != "offline"
    if not is_kept or find_price(settings.CHAT_MODEL) is not None:
        return []
    return [
        Error(
            f"MEMORY_DAILY_BUDGET cannot be kept: {settings.CHAT_MODEL} has no price.",
            hint=f"Set MEMORY_PRICES={settings.CHAT_MODEL}=INPUT/OUTPUT, for a million tokens.",
            id="jobs.E001",
        )
    ]

"""System check: a budget needs a model with a known price."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from jobs.spending import find_price


@register
def check_budget_can_be_kept(**options: Any) -> list[CheckMessage]:
    """Report a budget for a model without a known price: all work would wait."""
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

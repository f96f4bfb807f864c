"""What must hold among the settings of models and of the queue before the server starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from jobs.spending import find_price


@register
def check_budget_can_be_kept(**options: Any) -> list[CheckMessage]:
    """Refuse a budget while nobody knows what the model costs: all work would wait."""
    is_kept = settings.DAILY_BUDGET is not None and settings.LLM == "openai"
    if not is_kept or find_price(settings.CHAT_MODEL) is not None:
        return []
    return [
        Error(
            f"MEMORY_DAILY_BUDGET cannot be kept: {settings.CHAT_MODEL} has no price.",
            hint=f"Set MEMORY_PRICES={settings.CHAT_MODEL}=INPUT/OUTPUT, for a million tokens.",
            id="jobs.E001",
        )
    ]


GUARD_CYCLES = (0.25, 0.5, 1)
"""Seconds. With others the guard's count of what is left steps over zero: it never kills."""


@register
def check_queue_can_be_trusted(**options: Any) -> list[CheckMessage]:
    """Refuse settings of the queue under which wake-ups are lost, doubled or never end."""
    queue = settings.Q_CLUSTER
    return [
        Error(f"Q_CLUSTER: {what}", id=f"jobs.E{number:03}")
        for number, (is_wrong, what) in enumerate(_find_faults(queue), start=2)
        if is_wrong
    ]


def _find_faults(queue: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    workers, room, given = queue["workers"], queue["queue_limit"], queue.get("timeout")
    timeout = given if type(given) is int else 0  # a flag is an int, too
    yield timeout < 1, "`timeout` must be a whole number of seconds: a hung job never ends."
    turns = math.ceil((room + 1) / workers) + 1
    at_least = turns * (timeout + 3) + 10
    yield queue["retry"] < at_least, f"`retry` below {at_least} s runs what waits in memory twice."
    yield room > 2 * workers, "`queue_limit` above twice the workers lets wake-ups wait in memory."
    yield (
        queue.get("orm") != "default",
        "`orm` must be `default`: a job and its wake-up are written in one transaction.",
    )
    yield (
        queue.get("guard_cycle") not in GUARD_CYCLES,
        f"`guard_cycle` must be one of {', '.join(map(str, GUARD_CYCLES))}.",
    )
    yield (
        queue.get("save_limit", 0) >= 0,
        "`save_limit` must be -1: what a wake-up came to would be stored, and read by pickle.",
    )
    yield (
        queue.get("scheduler", True) is not False,
        "`scheduler` must be False: it calls whatever a row of its table names.",
    )

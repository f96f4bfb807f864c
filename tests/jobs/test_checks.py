"""Settings of the queue under which it cannot be trusted are refused at the start."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings
from django.conf import settings as configured
from django.core.checks import run_checks


def faults() -> set[str]:
    return {found.id for found in run_checks() if (found.id or "").startswith("jobs.")}


def test_the_settings_as_they_are_pass() -> None:
    assert faults() == set()


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"timeout": None}, "jobs.E002"),
        ({"timeout": 1.5}, "jobs.E002"),
        ({"timeout": 0}, "jobs.E002"),
        ({"retry": 468}, "jobs.E003"),
        ({"queue_limit": 2 * configured.WORKERS + 1, "retry": 10_000}, "jobs.E004"),
        ({"orm": "owner"}, "jobs.E005"),
        ({"orm": None}, "jobs.E005"),
        ({"guard_cycle": 0.3}, "jobs.E006"),
        ({"guard_cycle": 2}, "jobs.E006"),
        ({"save_limit": 0}, "jobs.E007"),
        ({"save_limit": 250}, "jobs.E007"),
        ({"scheduler": True}, "jobs.E008"),
    ],
)
def test_each_dangerous_setting_is_named(
    settings: LazySettings, changed: dict[str, Any], fault: str
) -> None:
    settings.Q_CLUSTER = {**configured.Q_CLUSTER, **changed}
    assert faults() == {fault}

"""The queue's settings: under others wake-ups would be lost, doubled or never end."""

from __future__ import annotations

import math
from typing import Any

from django.conf import settings
from django.core.checks import run_checks

QUEUE: dict[str, Any] = settings.Q_CLUSTER


def test_the_settings_as_they_are_pass() -> None:
    assert not [found for found in run_checks() if (found.id or "").startswith("jobs.")]


def test_a_hung_job_ends() -> None:
    assert type(QUEUE["timeout"]) is int and QUEUE["timeout"] > 0
    # With others the guard's count of what is left steps over zero: it never kills.
    assert QUEUE["guard_cycle"] in (0.25, 0.5, 1)


def test_what_waits_in_memory_is_not_run_twice() -> None:
    workers, room = QUEUE["workers"], QUEUE["queue_limit"]
    assert room <= 2 * workers, "wake-ups would wait in memory"
    turns = math.ceil((room + 1) / workers) + 1
    assert QUEUE["retry"] >= turns * (QUEUE["timeout"] + 3) + 10


def test_a_job_and_its_wake_up_are_written_in_one_transaction() -> None:
    assert QUEUE["orm"] == "default"


def test_nothing_a_task_said_is_stored_and_no_row_names_what_is_called() -> None:
    assert QUEUE["save_limit"] < 0, "what a wake-up came to would be stored, and read by pickle"
    assert QUEUE["scheduler"] is False, "it calls whatever a row of its table names"

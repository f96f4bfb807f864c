"""Calls every operation of the API once on the database of its environment; prints the answers.

What hangs on ids and times alone is written the same in each run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import django

SHARE = 1e-3
"""So much two scores may differ: they hang on the clock."""
COUNTED_ANEW = {"latency_ms", "ms", "p95_ms", "latency", "bytes_in", "bytes_out"}
"""What is measured in each run."""
COUNT_IDS = {"context_tokens", "tokens", "token_count", "used_tokens", "total_tokens"}
"""Tokens of texts that ids are in."""


def call_all(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers of a process that has this environment, by operation."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.conformance"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def list_differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Return where two answers differ by more than ids, times and what is measured."""
    name = place.rpartition(".")[2]
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        parts = [list_differences(one[key], other[key], f"{place}.{key}") for key in one]
        return [line for part in parts for line in part]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
        parts = [list_differences(a, b, f"{place}.{i}") for i, (a, b) in enumerate(pairs)]
        return [line for part in parts for line in part]
    is_number = isinstance(one, int | float) and isinstance(other, int | float)
    if is_number and name in COUNTED_ANEW:
        return []
    share = 0.1 if name in COUNT_IDS else SHARE if isinstance(one, float) else 0
    if is_number and abs(one - other) <= share * abs(one):
        return []
    return [] if one == other else [f"{place}: {one!r} is not {other!r}"[:500]]


def main() -> None:
    """Call all, and print what was answered as one line of JSON."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
    django.setup()
    from drf_spectacular.generators import SchemaGenerator  # noqa: PLC0415 - after setup

    from memoryproject.tenancy.walls import across_tenants  # noqa: PLC0415
    from tests.api.example_story import tell_all  # noqa: PLC0415

    described = SchemaGenerator().get_schema(request=None, public=True)
    with across_tenants():
        session = tell_all(described)
    sys.stdout.write(f"{json.dumps(session.written())}\n")


if __name__ == "__main__":
    main()

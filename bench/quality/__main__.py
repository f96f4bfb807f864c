"""Makes the settings ready; `run` does the rest."""

from __future__ import annotations

import importlib
import os
import signal
import sys

import django

from memoryproject.process.env import SettingError
from memoryproject.tenancy.walls import across_tenants


def main() -> int:
    """Return 0 if the figures were printed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # PostgreSQL must not outlive us
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    os.environ.setdefault("MEMORY_DATA_DIR", "var/bench-quality")
    try:
        django.setup()
    except SettingError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    with across_tenants():
        status: int = importlib.import_module("bench.quality.run").main(sys.argv[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())

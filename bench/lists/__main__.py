"""Reads the command line and starts the database; `run` does the rest."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path

import django

from memoryproject import embedded
from memoryproject.tenancy.walls import across_tenants


def main() -> None:
    """Measure the lists on a database that `bench.retrieval --keep` has loaded."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.lists",
        description="Measure how fast the admin's lists open, on a database that "
        "`python -m bench.retrieval --keep` has loaded.",
    )
    parser.add_argument("--data-dir", type=Path, default=Path("var/bench"), help="var/bench")
    parser.add_argument("--times", type=int, default=7, help="how often each page is opened")
    parser.add_argument("--only", default="", help="only pages whose name holds this")
    given = parser.parse_args()
    data_dir = given.data_dir.resolve()
    os.environ["MEMORY_DATA_DIR"] = str(data_dir)
    os.environ.pop("DATABASE_URL", None)
    os.environ["MEMORY_LOG_LEVEL"] = "ERROR"
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
    embedded.ensure_started(data_dir)
    try:
        django.setup()
        with across_tenants():
            importlib.import_module("bench.lists.run").run(times=given.times, only=given.only)
    finally:
        embedded.stop(data_dir)


if __name__ == "__main__":
    main()

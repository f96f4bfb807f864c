"""Reads the command line and starts the database; `run` does the rest."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path

import django

from memoryproject import embedded
from memoryproject.tenancy.walls import across_tenants

PARTS = ["walks", "searches"]


def main() -> None:
    """Measure walks over links and searches, on a database that this makes itself."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.graph",
        description="Measure how fast links are followed and notes are found, on a database that "
        "this makes itself.",
    )
    parser.add_argument("--data-dir", type=Path, default=Path("var/bench-graph"))
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=300_000)
    parser.add_argument("--hubs", type=int, default=10, help="notes with --hub-links links each")
    parser.add_argument("--hub-links", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=60, help="walks or searches for each line")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the data, use it if it is there")
    parser.add_argument("--explain", action="store_true", help="print plans instead")
    given = parser.parse_args()
    data_dir = given.data_dir.resolve()
    os.environ["MEMORY_DATA_DIR"] = str(data_dir)
    os.environ.pop("DATABASE_URL", None)
    os.environ["MEMORY_LOG_LEVEL"] = "ERROR"
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
    embedded.make_data_dir(data_dir)
    try:
        django.setup()
        with across_tenants():
            importlib.import_module("bench.graph.run").run(given)
    finally:
        embedded.stop(data_dir)


if __name__ == "__main__":
    main()

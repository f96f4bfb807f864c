"""Reads the command line and makes the server ready; `run` does the rest."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from pathlib import Path

import django

from bench.retrieval import endpoint
from bench.retrieval.options import LOCAL_DIM, PARTS, Options
from memoryproject import embedded
from memoryproject.tenancy.walls import across_tenants


def read_options(arguments: list[str]) -> Options:
    """Return the command line's wishes."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=run_says())
    parser.add_argument("--data-dir", type=Path, default=Path("var/bench"), help="var/bench")
    parser.add_argument("--out", type=Path, help="folder of the results; the data folder")
    parser.add_argument("--scale", type=float, default=1.0, help="of 1 M facts; 0.01: a smoke run")
    parser.add_argument(
        "--full-sizes", action="store_true", help="measured conversations are not scaled down"
    )
    parser.add_argument("--dim", type=int, help="of the vectors; as the embedder's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=15, help="for each side of a comparison")
    parser.add_argument("--questions", type=int, default=300, help="at most, for each side")
    parser.add_argument("--exact-questions", type=int, default=30, help="for each size")
    parser.add_argument("--pipeline-messages", type=int, default=600, help="600")
    parser.add_argument("--keep", action="store_true", help="keep the data, use it if it fits")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="all")
    given = parser.parse_args(arguments)
    remote = os.environ.get("MEMORY_EMBEDDINGS") == "openai"
    own = int(os.environ.get("MEMORY_EMBEDDING_DIM", "1536")) if remote else LOCAL_DIM
    dim = given.dim or own
    return Options(
        data_dir=given.data_dir.resolve(),
        out=(given.out or given.data_dir).resolve(),
        scale=given.scale,
        full_sizes=given.full_sizes,
        dim=dim,
        seed=given.seed,
        seconds=given.seconds,
        questions=given.questions,
        exact_questions=given.exact_questions,
        pipeline_messages=given.pipeline_messages,
        keep=given.keep,
        parts=frozenset(given.parts),
        synthetic_embedder=dim != own,
    )


def run_says() -> str:
    """Return what the command does, in a sentence."""
    return "Measure how fast the server answers and writes, on a database that it makes itself."


def main() -> None:
    """Start what the settings need before they are read, then measure."""
    options = read_options(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # servers must not outlive us
    os.environ["MEMORY_DATA_DIR"] = str(options.data_dir)
    os.environ.pop("DATABASE_URL", None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
    embedded.make_data_dir(options.data_dir)
    with endpoint.serve(options.dim, needed=options.synthetic_embedder):
        django.setup()
        with across_tenants():
            importlib.import_module("bench.retrieval.run").run(options)


if __name__ == "__main__":
    main()

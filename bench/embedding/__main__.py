"""Measures; what it starts could not be found in this file by the processes that do it."""

from __future__ import annotations

from bench.embedding.run import run

if __name__ == "__main__":
    run()

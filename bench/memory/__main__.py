"""Measures; what it starts is ended, and its folder deleted."""

from __future__ import annotations

from bench.memory.run import run

if __name__ == "__main__":
    run()

"""Reads the command line, runs the load, and prints what came of it."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from bench.load import picture, report
from bench.load.run import Options, run


def main() -> None:
    """Print the tables; write JSON and a picture where they are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.load",
        description="Measure how much one hostile tenant slows the others down, on a server of its "
        "own that is thrown away: calm, with the hostile tenant, and calm again.",
    )
    add = parser.add_argument
    add("--seconds", type=float, default=60, metavar="S", help="of each phase; 60")
    add("--tenants", type=int, default=20, metavar="N", help="small ones; 20")
    add("--notes", type=int, default=100, metavar="N", help="of 60 kB, the hostile one's; 100")
    add("--rate", type=float, default=6, help="calls a second of all small tenants together; 6")
    add("--heavy-rate", type=float, default=3, help="calls a second of the heavy one; 3")
    add("--seed", type=int, default=1)
    add("--json", type=Path, metavar="FILE", help="write all figures there")
    add("--picture", type=Path, metavar="FILE", help="draw it there, such as docs/load.svg")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing must outlive us
    done = run(
        Options(
            seconds=given.seconds,
            tenants=given.tenants,
            notes=given.notes,
            rate=given.rate,
            heavy_rate=given.heavy_rate,
            seed=given.seed,
        )
    )
    if given.json:
        text = json.dumps(report.make_results(done), indent=1)
        given.json.write_text(text + "\n", encoding="utf-8")
    if given.picture:
        picture.draw(given.picture, done)
    sys.stdout.write(report.render(done))


if __name__ == "__main__":
    main()

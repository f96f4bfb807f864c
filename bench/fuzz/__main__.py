"""Reads the command line, lets schemathesis at a server, prints one line of JSON."""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys

from bench.fuzz.run import fuzz


def main() -> int:
    """Return 0 if nothing was found."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.fuzz",
        description="Send random requests, made from the API's description, to a server of its "
        "own; report every answer of 500 and every answer that the description does not have.",
    )
    add = parser.add_argument
    add("--cases", type=int, default=3_000, metavar="N", help="requests to send; 3000")
    add("--seconds", type=float, default=300, metavar="S", help="at most; 300")
    add("--seed", type=int, default=None, metavar="N", help="a random one, which is printed")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing must outlive us
    seed = random.randrange(2**31) if given.seed is None else given.seed
    results = fuzz(cases=given.cases, seconds=given.seconds, seed=seed)
    sys.stdout.write(json.dumps(results) + "\n")
    return 0 if results["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())

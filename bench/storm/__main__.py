"""Reads the command line, lets the storm pass, prints one line of JSON."""

from __future__ import annotations

import json
import signal
import sys

from bench.storm.options import read_options
from bench.storm.report import tell_verdict
from bench.storm.run import run


def main() -> int:
    """Return 0 if the oracle holds; of a control, if it does not."""
    options = read_options(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing must outlive us
    results = run(options)
    tell_verdict(results)
    sys.stdout.write(json.dumps(results) + "\n")
    return 0 if results["ok"] == (options.control is None) else 1


if __name__ == "__main__":
    sys.exit(main())

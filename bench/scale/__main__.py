"""Reads the command line, measures, and prints what growing costs."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import fields, replace
from pathlib import Path

from bench.scale import report
from bench.scale.costs import measure
from bench.scale.model import Assumptions, find_needs

MESSAGES_A_DAY = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
DRAWN_SIZES = (100, 1_000, 10_000)
"""Messages in the conversation that an answer searches."""


def main() -> None:
    """Print the tables; write JSON and a picture where they are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale",
        description="Measure what a message and an answer cost, on a server of its own that is"
        " thrown away, and model what larger numbers of them need.",
    )
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=[100, 1_000, 3_000], metavar="N", help="messages")
    add("--seed", type=int, default=1)
    add("--json", type=Path, metavar="FILE", help="write all figures there")
    add("--picture", type=Path, metavar="FILE", help="draw it there, such as docs/scale.svg")
    for field in fields(Assumptions):
        default: float = getattr(Assumptions(), field.name)
        name = f"--{field.name.replace('_', '-')}"
        add(name, type=type(default), default=default, help=f"assumed: {default:g}")
    given = parser.parse_args()
    if len(set(given.sizes)) < 2:
        parser.error("A line through the costs of answers needs two sizes.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing must outlive us
    assumed = Assumptions(**{one.name: getattr(given, one.name) for one in fields(Assumptions)})
    costs = measure(given.sizes, seed=given.seed)
    needs = list(find_needs(costs, assumed, MESSAGES_A_DAY))
    if given.json:
        given.json.write_text(json.dumps(costs.to_json(), indent=1) + "\n", encoding="utf-8")
    if given.picture:
        sized = {size: replace(assumed, conversation_messages=size) for size in DRAWN_SIZES}
        drawn = {size: list(find_needs(costs, own, MESSAGES_A_DAY)) for size, own in sized.items()}
        report.draw(given.picture, drawn)
    sys.stdout.write(report.render(costs, assumed, needs))


if __name__ == "__main__":
    main()

"""Reads the command line, measures, and prints what growing costs."""

from __future__ import annotations

from dataclasses import asdict, fields

from bench.command import make_parser, publish
from bench.scale import report
from bench.scale.costs import measure
from bench.scale.model import Assumptions, find_needs

MESSAGES_A_DAY = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


def main() -> None:
    """Print the tables."""
    parser = make_parser(
        "scale",
        "Measure what a message and an answer cost, on a server of its own that is thrown away,"
        " and model what larger numbers of them need.",
    )
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=[100, 1_000, 3_000], metavar="N", help="messages")
    for field in fields(Assumptions):
        default: float = getattr(Assumptions(), field.name)
        name = f"--{field.name.replace('_', '-')}"
        add(name, type=type(default), default=default, help=f"assumed: {default:g}")
    given = parser.parse_args()
    if len(set(given.sizes)) < 2:
        parser.error("A line through the costs of answers needs two sizes.")
    assumed = Assumptions(**{one.name: getattr(given, one.name) for one in fields(Assumptions)})
    costs = measure(given.sizes, seed=given.seed)
    needs = list(find_needs(costs, assumed, MESSAGES_A_DAY))
    publish(report.render(costs, assumed, needs), asdict(costs), given.json)


if __name__ == "__main__":
    main()

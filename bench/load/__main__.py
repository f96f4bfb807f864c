"""Reads the command line, runs the load, and prints what came of it."""

from __future__ import annotations

from bench.command import make_parser, publish
from bench.load import memory, report
from bench.load.run import run
from bench.tables import render_table


def main() -> None:
    """Print how much one tenant slows the others, or what memory a server takes."""
    parser = make_parser(
        "load",
        "Measure how much one hostile tenant slows the others down, on a server of its own that"
        " is thrown away: calm, with the hostile tenant, and calm again.",
    )
    add = parser.add_argument
    add("--seconds", type=float, default=60, metavar="S", help="of each phase; %(default)s")
    add("--tenants", type=int, default=20, metavar="N", help="small ones; %(default)s")
    add("--notes", type=int, default=100, metavar="N", help="of 60 kB, the hostile one's; 100")
    add("--rate", type=float, default=6, help="calls a second of all small tenants together; 6")
    add("--heavy-rate", type=float, default=3, help="calls a second of the heavy one; 3")
    add("--memory", type=int, metavar="CALLS", help=memory.__doc__)
    add("--settle", type=float, default=15, metavar="S", help="before each look at memory; 15")
    given = parser.parse_args()
    if given.memory is not None:
        rows = list(memory.measure(calls=given.memory, settle_s=given.settle, seed=given.seed))
        publish(render_table(memory.HEADER, rows), rows, given.json)
    else:
        results = report.make_results(run(given))
        publish(report.render(results), results, given.json)


if __name__ == "__main__":
    main()

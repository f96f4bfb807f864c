"""What one storm is asked to do."""

from __future__ import annotations

import argparse
from pathlib import Path

STOCK_CLUSTER = "stock-cluster"
"""A control, known to be wrong: django-q2's own command, without our supervisor and reconciler."""


class Options(argparse.Namespace):
    """The command line, read; the help of each option says what it is."""

    @property
    def model_is_needed(self) -> bool:
        """Whether anything is asked of the model server."""
        return bool(self.llm == "on" or self.embeddings == "remote")

    @property
    def ends_within_s(self) -> float:
        """The longest that writers and kills may take."""
        return float(1.5 * self.seconds + 60)


def read_options(arguments: list[str]) -> Options:
    """Return the command line's wishes."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.storm",
        description="Kill processes at random while messages are posted, and see what is lost.",
    )
    add = parser.add_argument
    add("--data-dir", type=Path, help="a new folder; one under /tmp that is deleted at the end")
    add("--keep", action="store_true", help="leave the folder, with its logs and its database")
    add("--seed", type=int, default=1)
    add("--seconds", type=float, default=60, help="of the storm; 60")
    add("--messages", type=int, default=800, help="spread over that time; 800")
    add("--conversations", type=int, default=12)
    add("--writers", type=int, default=6)
    add("--kills", type=int, default=30, help="kill -9 of a process; 30")
    add("--crashes", type=int, default=2, help="immediate stops of PostgreSQL; 2")
    add("--freezes", type=int, default=1, help="workers stopped beyond their lease; 1")
    add("--frozen-s", type=float, default=40, help="for so long; 40")
    add("--purges", type=int, default=2, help="DELETE FROM the queue's table; 2")
    add("--supervisors", type=int, default=2, choices=(1, 2))
    add("--workers", type=int, default=2, help="of each supervisor; 2")
    add("--faults", type=float, default=0.15, help="share of the model's answers; 0.15")
    add("--llm", choices=("on", "off"), default="on", help="off: the offline engine")
    where = "remote: by the model server, faults and all; remote"
    add("--embeddings", choices=("remote", "local"), default="remote", help=where)
    burden = (
        "with a tenant of slow receivers, imports, erasures and a slow model, beside which "
        "another's flush may take ten seconds; wants no faults and no crashes"
    )
    add("--heavy", action="store_true", help=burden)
    add("--control", choices=(STOCK_CLUSTER,), help="must fail; 0 if it does")
    add("--quiet-within-s", type=float, default=300, help="after the storm; 300")
    return parser.parse_args(arguments, namespace=Options())

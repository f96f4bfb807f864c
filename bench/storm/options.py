"""What one storm is asked to do."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Control(StrEnum):
    """A worker that is known to be wrong: the oracle must notice."""

    DRAIN_FIRST = "drain-first"
    """Takes messages out of the window in one transaction, makes episodes in the next."""
    STOCK_CLUSTER = "stock-cluster"
    """django-q2's own command, without our supervisor and reconciler."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    data_dir: Path | None
    """A folder that does not exist yet; None: one under /tmp."""
    keep: bool
    seed: int
    seconds: float
    """How long messages are posted and processes killed, if all goes well."""
    messages: int
    conversations: int
    writers: int
    kills: int
    crashes: int
    freezes: int
    """How often a cluster's workers are stopped for longer than their lease."""
    frozen_s: float
    purges: int
    """How often the queue's table is emptied."""
    supervisors: int
    workers: int
    """Of each cluster."""
    faults: float
    """Share of the model's answers that are none, or wrong."""
    llm: str
    embeddings: str
    heavy: bool
    """Whether a tenant burdens the workers, and another's flushes are timed beside it."""
    control: Control | None
    quiet_within_s: float

    @property
    def model_is_needed(self) -> bool:
        """Whether anything is asked of the model server."""
        return self.llm == "on" or self.embeddings == "remote"

    @property
    def ends_within_s(self) -> float:
        """The longest that writers and kills may take."""
        return 1.5 * self.seconds + 60


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
    add(
        "--embeddings",
        choices=("remote", "local"),
        default="remote",
        help="remote: by the model server, faults and all; remote",
    )
    add(
        "--heavy",
        action="store_true",
        help="with a tenant of slow receivers, imports, erasures and a slow model, beside which "
        "another's flush may take ten seconds; wants no faults and no crashes",
    )
    add("--control", type=Control, choices=list(Control), help="must fail; 0 if it does")
    add("--quiet-within", type=float, default=300, metavar="S", help="after the storm; 300")
    given = parser.parse_args(arguments)
    return Options(
        data_dir=given.data_dir and given.data_dir.resolve(),
        keep=given.keep,
        seed=given.seed,
        seconds=given.seconds,
        messages=given.messages,
        conversations=given.conversations,
        writers=given.writers,
        kills=given.kills,
        crashes=given.crashes,
        freezes=given.freezes,
        frozen_s=given.frozen_s,
        purges=given.purges,
        supervisors=given.supervisors,
        workers=given.workers,
        faults=given.faults,
        llm=given.llm,
        embeddings=given.embeddings,
        heavy=given.heavy,
        control=given.control,
        quiet_within_s=given.quiet_within,
    )

"""What all commands share: options that several take, figures as JSON, and an end in order."""

from __future__ import annotations

import json
import signal
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any


def make_parser(name: str, description: str) -> ArgumentParser:
    """Return a parser of `python -m bench.<name>` that takes --seed and --json.

    From now on SIGTERM ends the command as Ctrl-C does, so that nothing outlives it.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = ArgumentParser(prog=f"python -m bench.{name}", description=description)
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn; %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    return parser


def publish(text: str, figures: Any, path: Path | None) -> None:
    """Print the text, and write the figures where they are asked for."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def tell(line: str) -> None:
    """Say something to whoever watches."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()

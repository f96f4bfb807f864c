"""Command line: `python -m memoryproject.embedded start|stop|status|psql DATA_DIR`."""

import argparse
import os
import sys
from pathlib import Path

from memoryproject.embedded import (
    APP_ROLE,
    OWNER_ROLE,
    SUPERUSER,
    EmbeddedPostgresError,
    ensure_started,
    find_running,
    locate,
    stop,
)
from memoryproject.embedded.binaries import find_binaries
from memoryproject.embedded.tools import clean_environment


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed, 3 (status) not running."""
    chosen = _build_parser().parse_args(arguments)
    try:
        code: int = chosen.command(chosen)
    except EmbeddedPostgresError as error:
        print(error, file=sys.stderr)
        return 1
    return code


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memoryproject.embedded",
        description="Manage the embedded PostgreSQL server of a data folder.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    start_parser = commands.add_parser("start", help="start it, creating it if need be")
    start_parser.set_defaults(command=_start)
    stop_parser = commands.add_parser("stop", help="stop it")
    stop_parser.set_defaults(command=_stop)
    stop_parser.add_argument("--mode", choices=["fast", "immediate"], default="fast")
    status_parser = commands.add_parser("status", help="say whether it runs (exit code 3: no)")
    status_parser.set_defaults(command=_show_status)
    psql_parser = commands.add_parser("psql", help="open a shell on its database")
    psql_parser.set_defaults(command=_open_psql)
    psql_parser.add_argument(
        "--role", choices=[OWNER_ROLE, APP_ROLE, SUPERUSER], default=OWNER_ROLE
    )
    for command_parser in (start_parser, stop_parser, status_parser, psql_parser):
        command_parser.add_argument("data_dir", type=Path, metavar="DATA_DIR")
    psql_parser.add_argument("psql_arguments", nargs=argparse.REMAINDER, metavar="...")
    return parser


def _start(chosen: argparse.Namespace) -> int:
    address = ensure_started(chosen.data_dir)
    print(f"PostgreSQL answers in {address.host} (database {address.database}).")
    return 0


def _stop(chosen: argparse.Namespace) -> int:
    stopped = stop(chosen.data_dir, chosen.mode)
    print("PostgreSQL has stopped." if stopped else "PostgreSQL was not running.")
    return 0


def _show_status(chosen: argparse.Namespace) -> int:
    pid = find_running(chosen.data_dir)
    if pid is None:
        print("PostgreSQL is not running.")
        return 3
    print(f"PostgreSQL runs as process {pid}; its log is {locate(chosen.data_dir).log}.")
    return 0


def _open_psql(chosen: argparse.Namespace) -> int:
    address = ensure_started(chosen.data_dir)
    psql = str(find_binaries().program("psql"))
    connection = ["-h", address.host, "-p", str(address.port), "-U", chosen.role]
    command = [psql, *connection, "-d", address.database, *chosen.psql_arguments]
    os.execve(psql, command, clean_environment())


if __name__ == "__main__":
    sys.exit(main())

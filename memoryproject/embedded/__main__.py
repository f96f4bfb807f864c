"""Command line: `python -m memoryproject.embedded COMMAND DATA_DIR`; --help lists the commands."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from memoryproject import embedded
from memoryproject.embedded import APP_ROLE, OWNER_ROLE, SUPERUSER, EmbeddedPostgresError
from memoryproject.embedded.binaries import clean_environment, find_binaries

Command = Callable[[argparse.Namespace], int]
# PostgreSQL's own clients, of the server's version: an older pg_dump refuses it. What is
# dumped and restored belongs to several roles, and a part to the superuser.
CLIENTS = {
    "psql": (OWNER_ROLE, "open a shell on its database"),
    "pg_dump": (SUPERUSER, "back its database up"),
    "pg_restore": (SUPERUSER, "restore a backup into its database"),
}


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

    def add(name: str, command: Command, purpose: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = commands.add_parser(name, help=purpose)
        added.set_defaults(command=command, program=name)
        added.add_argument("data_dir", type=Path, metavar="DATA_DIR")
        return added

    add("start", _start, "start it, creating it if need be")
    stop = add("stop", _stop, "stop it")
    stop.add_argument("--mode", choices=["fast", "immediate"], default="fast")
    add("status", _show_status, "say whether it runs (exit code 3: no)")
    for program, (role, purpose) in CLIENTS.items():
        client = add(program, _run_client, purpose)
        client.add_argument("--role", choices=[OWNER_ROLE, APP_ROLE, SUPERUSER], default=role)
        client.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    return parser


def _start(chosen: argparse.Namespace) -> int:
    address = embedded.ensure_started(chosen.data_dir)
    print(f"PostgreSQL answers in {address.host} (database {address.database}).")
    return 0


def _stop(chosen: argparse.Namespace) -> int:
    stopped = embedded.stop(chosen.data_dir, chosen.mode)
    print("PostgreSQL has stopped." if stopped else "PostgreSQL was not running.")
    return 0


def _show_status(chosen: argparse.Namespace) -> int:
    pid = embedded.find_running(chosen.data_dir)
    if pid is None:
        print("PostgreSQL is not running.")
        return 3
    print(f"PostgreSQL runs as process {pid}; its log is {embedded.locate(chosen.data_dir).log}.")
    return 0


def _run_client(chosen: argparse.Namespace) -> int:
    address = embedded.ensure_started(chosen.data_dir)
    program = str(find_binaries().program(chosen.program))
    connection = ["-h", address.host, "-p", str(address.port), "-U", chosen.role]
    command = [program, *connection, "-d", address.database, *chosen.arguments]
    # Policies apply to the owner, too: this shows the rows of all tenants.
    os.execve(program, command, clean_environment() | {"PGOPTIONS": "-c memory.tenant=*"})


if __name__ == "__main__":
    sys.exit(main())

"""Runs the bundled pg_dump and pg_restore as streams."""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from psycopg.conninfo import conninfo_to_dict

from memoryproject.embedded.binaries import clean_environment, find_binaries

PART = 1024 * 1024
EVERYBODY = "-c memory.tenant=*"
"""Makes all tenants visible: else nothing is dumped, since policies apply to the owner, too."""


class DumpFailed(Exception):
    """The program failed; the message is its last line."""


def dump(conninfo: str) -> Iterator[bytes]:
    """Yield the dump of a database in pg_dump's custom format, as of a single moment.

    Raises:
        DumpFailed: it is incomplete, and what was yielded is unusable.
    """
    arguments, environment = _connect_by(conninfo)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*_program("pg_dump"), *arguments, "--format=custom", "--enable-row-security"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
        with process:
            assert process.stdout is not None
            try:
                while part := process.stdout.read(PART):
                    yield part
            except GeneratorExit:
                process.kill()
                raise
        _check(process.returncode, errors)


def restore(conninfo: str, parts: Iterable[bytes]) -> None:
    """Read a dump in the custom format into an empty database, all or nothing.

    Raises:
        DumpFailed: it could not be read, or does not fit the database.
    """
    arguments, environment = _connect_by(conninfo)
    command = [*_program("pg_restore"), *arguments, "--exit-on-error", "--single-transaction"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=errors, stderr=errors, env=environment
        )
        with process:
            assert process.stdin is not None
            try:
                for part in parts:
                    process.stdin.write(part)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it has said why, and ended
            except BaseException:
                process.kill()  # half a dump must not be committed
                raise
        _check(process.returncode, errors)


def _program(name: str) -> Sequence[str]:
    return [str(find_binaries().program(name))]


def _connect_by(conninfo: str) -> tuple[list[str], Mapping[str, str]]:
    """Return arguments and environment; the password is not among the arguments."""
    parts = conninfo_to_dict(conninfo)
    password = str(parts.pop("password", None) or "")
    options = f"{parts.pop('options', None) or ''} {EVERYBODY}".strip()
    environment = clean_environment() | {"PGOPTIONS": options}
    if password:
        environment["PGPASSWORD"] = password
    place = " ".join(f"{name}='{_quote(str(value))}'" for name, value in parts.items())
    return ["--dbname", place], environment


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _check(code: int, errors: IO[bytes]) -> None:
    if code:
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise DumpFailed(reason)

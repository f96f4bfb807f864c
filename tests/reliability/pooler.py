"""PgBouncer before a database, set up as docs/operating.md says."""

from __future__ import annotations

import configparser
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from bench.storm.services import find_port
from memoryproject import embedded
from memoryproject.embedded.accounts import account_for
from tests.guards.test_docs import read_blocks
from tests.reliability.product import PATIENCE_S, Product, end

UNPACKED = settings.BASE_DIR / ".pytest_cache" / "pgbouncer"
"""Where .ci/pgbouncer puts it."""


def find_pgbouncer() -> str:
    """Return the program; without it the test is skipped, and under CI that is a failed run."""
    places = [os.environ["PATH"], "/usr/sbin", str(UNPACKED / "usr" / "sbin")]
    found = shutil.which("pgbouncer", path=os.pathsep.join(places))
    if found is None:
        pytest.skip("PgBouncer is not there: .ci/pgbouncer gets it")
    return found


@contextmanager
def pooler(product: Product, folder: Path, *, servers: int) -> Iterator[int]:
    """Run PgBouncer before the product's database, with so few `servers`; yield its port.

    Everything is as in the documentation but the places, the passwords and their number.
    """
    port = find_port()
    account = account_for(embedded.locate(product.data_dir).home)
    (folder / "pgbouncer.ini").write_text(configure(product, folder, port, servers))
    (folder / "userlist.txt").write_text('"memory_owner" ""\n"memory_app" ""\n')
    libraries = [str(path.parent) for path in UNPACKED.rglob("*.so*")]
    process = subprocess.Popen(
        [find_pgbouncer(), "--quiet", str(folder / "pgbouncer.ini")],
        env={**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(sorted(set(libraries)))},
        **account.as_subprocess_arguments(),
    )
    try:
        _wait_until_it_listens(port, process)
        yield port
    finally:
        end(process)


def configure(product: Product, folder: Path, port: int, servers: int) -> str:
    """Return the documentation's file, with the places of a test."""
    (text,) = read_blocks("docs/operating.md", "A pooler", "ini")
    file = configparser.ConfigParser()
    file.read_string(text)
    place = embedded.locate(product.data_dir).address
    (name,) = file["databases"]
    file["databases"][name] = f"host={place.host} port={place.port} dbname={place.database}"
    file["pgbouncer"].update({
        "listen_port": str(port),
        "auth_type": "trust",
        "auth_file": str(folder / "userlist.txt"),
        "default_pool_size": str(servers),
        "unix_socket_dir": "",
    })  # fmt: skip
    lines = [f"[{part}]\n" + "".join(f"{key} = {value}\n" for key, value in file[part].items())
             for part in file.sections()]  # fmt: skip
    return "\n".join(lines)


def _wait_until_it_listens(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("PgBouncer did not come up")

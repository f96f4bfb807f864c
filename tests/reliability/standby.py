"""A replica of a product's database, made by pg_basebackup as docs/operating.md says."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memoryproject import embedded
from memoryproject.embedded import binaries, cluster
from memoryproject.embedded.accounts import account_for
from memoryproject.embedded.binaries import Tools
from tests.reliability.product import Product, installed

REPLICATED = {"wal_level": "replica", "max_wal_senders": "10", "wal_keep_size": "1GB",
              "hot_standby": "on"}  # fmt: skip


@dataclass
class Standby(Product):
    """A replica; as a product's database, it can be asked, stopped and connected to."""

    name: str = "standby"

    @property
    def url(self) -> str:
        """Return how the server connects to it."""
        place = embedded.locate(self.data_dir).address
        return f"host={place.host} port={place.port} dbname={place.database} user=memory_app"

    def follow(self, primary: Product) -> None:
        """Copy the primary's database and begin to replay its log."""
        paths = embedded.locate(self.data_dir)
        cluster.make_folders(paths, account_for(paths.cluster))
        place = embedded.locate(primary.data_dir).address
        source = f"host={place.host} port={place.port} user=postgres application_name={self.name}"
        self._run("pg_basebackup", "-D", paths.cluster.name, "-R", "-X", "stream",
                  "-c", "fast", "-d", source)  # fmt: skip
        cluster.write_settings(paths, account_for(paths.cluster), self.settings)
        self.launch()

    def launch(self) -> None:
        """Start it, and wait until it answers."""
        paths = embedded.locate(self.data_dir)
        self._run("pg_ctl", f"--pgdata={paths.cluster.name}", f"--log={paths.log.name}",
                  "--wait", "start")  # fmt: skip

    def promote(self) -> None:
        """Make it the primary, and wait until it takes writes."""
        self._run("pg_ctl", "--pgdata=data", "--wait", "promote")

    def delay(self, text: str) -> None:
        """Let it replay commits so much later."""
        with self.connect() as connection:
            connection.execute(f"ALTER SYSTEM SET recovery_min_apply_delay = '{text}'".encode())
            connection.execute("SELECT pg_reload_conf()")

    def has_all_of(self, primary: Product) -> bool:
        """Return whether it has replayed what the primary has written."""
        ((position,),) = primary.query("SELECT pg_current_wal_insert_lsn()::text")
        return self.query(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == [(True,)]

    def _run(self, name: str, *arguments: str) -> None:
        paths = embedded.locate(self.data_dir)
        account = account_for(paths.cluster)
        programs = binaries.make_runnable_for(binaries.find_binaries(), account)
        done = Tools(programs, account, paths.home).run(name, *arguments)
        assert done.returncode == 0, done.stdout[-2000:]


@contextmanager
def replicated(template: Product, folder: Path, *names: str) -> Iterator[tuple[Product, ...]]:
    """Run a copy of the template's database, and a replica of it for each name."""
    with ExitStack() as stack:
        primary = stack.enter_context(installed(template, folder))
        primary.settings |= REPLICATED
        primary.start()
        made: list[Product] = [primary]
        for name in names:
            standby = Standby(folder / name, key=primary.key, settings=primary.settings, name=name)
            stack.callback(standby.stop)
            standby.follow(primary)
            made.append(standby)
        yield tuple(made)


@contextmanager
def frozen(product: Product) -> Iterator[None]:
    """Stop all processes of a database until the block ends: connections stay, nothing answers."""
    processes = list_processes(product)
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def list_processes(product: Product) -> list[int]:
    """Return the pids of a database's server and of its children."""
    server = embedded.find_running(product.data_dir)
    assert server is not None
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(") ")[2].split()[1])
    return [server, *(pid for pid, parent in parents.items() if parent == server)]


def kill(product: Product) -> None:
    """Kill a database's server and wait until all its processes are gone."""
    processes = list_processes(product)
    os.kill(processes[0], signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))


def until(condition: Callable[[], bool], *, within_s: float = 60) -> None:
    """Wait until a condition holds."""
    ends = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < ends, "it does not come to pass"
        time.sleep(0.05)

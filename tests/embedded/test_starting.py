import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from psycopg import pq

from memoryproject import embedded
from memoryproject.embedded import postmaster
from memoryproject.embedded.bootstrap import connect_as_superuser
from memoryproject.embedded.postmaster import is_postgres
from tests.embedded.steps import connect, fetch_value, find_pid, start

pytestmark = pytest.mark.gate

REPOSITORY = Path(__file__).parents[2]


def test_a_first_start_creates_the_database_with_its_roles_and_extensions(data_dir: Path) -> None:
    said: list[str] = []
    address = start(data_dir, said)

    assert [line.split(" in ")[0] for line in said] == ["Creating the embedded PostgreSQL 18"]
    assert address == embedded.locate(data_dir).address
    with connect(address, embedded.OWNER_ROLE) as connection:
        extensions = connection.execute("SELECT extname FROM pg_extension").fetchall()
        roles = connection.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcanlogin FROM pg_roles"
            " WHERE rolname LIKE 'memory%' ORDER BY rolname"
        ).fetchall()
    assert {"vector", "btree_gist"} <= {name for (name,) in extensions}
    assert roles == [
        ("memory_app", False, False, False, True),
        ("memory_owner", False, False, False, True),
    ]


def test_eight_processes_that_start_a_new_server_at_once_share_one(data_dir: Path) -> None:
    command = [sys.executable, "-m", "memoryproject.embedded", "start", str(data_dir)]
    starters = [
        subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(8)
    ]

    said = [starter.communicate(timeout=300)[1] for starter in starters]

    assert [starter.returncode for starter in starters] == [0] * 8
    assert b"".join(said).count(b"Creating") == 1
    assert fetch_value(embedded.locate(data_dir).address, "SELECT 1") == 1


def test_data_survives_the_killing_of_the_server(made_data_dir: Path) -> None:
    address = embedded.ensure_started(made_data_dir, report=lambda line: None)  # durable settings
    with connect(address, embedded.OWNER_ROLE) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    os.kill(find_pid(made_data_dir), signal.SIGKILL)
    embedded.ensure_started(made_data_dir, report=lambda line: None)

    assert fetch_value(address, "SELECT answer FROM kept") == 42


def test_a_pid_file_that_names_another_program_does_not_prevent_a_start(
    made_data_dir: Path,
) -> None:
    start(made_data_dir)
    pid_file = embedded.locate(made_data_dir).pid_file
    claim = pid_file.read_text()
    embedded.stop(made_data_dir)
    pid_file.write_text(claim.replace(claim.split("\n")[0], str(os.getpid()), 1))
    if os.geteuid() == 0:
        shutil.chown(pid_file, user=pid_file.parent.owner())

    assert embedded.find_running(made_data_dir) is None
    assert fetch_value(start(made_data_dir), "SELECT 1") == 1


@pytest.mark.parametrize("left", ["", "\n", "half a nu"])
def test_a_pid_file_without_a_pid_does_not_prevent_a_start(made_data_dir: Path, left: str) -> None:
    """As a power cut leaves it, since PostgreSQL does not wait for the disk with it."""
    start(made_data_dir)
    embedded.stop(made_data_dir, mode="immediate")
    paths = embedded.locate(made_data_dir)
    for file in (paths.pid_file, paths.socket_lock):
        file.write_text(left)
    assert fetch_value(start(made_data_dir), "SELECT 1") == 1


def test_a_creation_that_was_cut_short_is_begun_again(data_dir: Path) -> None:
    unfinished = embedded.locate(data_dir).home / "data.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    if os.geteuid() == 0:  # pytest's umask must not decide who reaches it
        data_dir.chmod(0o711)

    assert fetch_value(start(data_dir), "SELECT 1") == 1
    assert not unfinished.exists()


def test_a_start_repairs_an_unfinished_bootstrap(made_data_dir: Path) -> None:
    address = start(made_data_dir)
    with connect_as_superuser(address, database=embedded.DATABASE) as connection:
        connection.execute("DROP EXTENSION btree_gist")
    embedded.locate(made_data_dir).ready_mark.unlink()

    start(made_data_dir)

    query = "SELECT count(*) FROM pg_extension WHERE extname = 'btree_gist'"
    assert fetch_value(address, query) == 1


def test_a_stop_and_a_start_after_it_keep_the_data(made_data_dir: Path) -> None:
    with connect(start(made_data_dir), embedded.OWNER_ROLE) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    assert embedded.stop(made_data_dir) is True
    assert embedded.stop(made_data_dir) is False
    assert embedded.find_running(made_data_dir) is None
    assert postmaster.ping(embedded.locate(made_data_dir)) != pq.Ping.OK

    assert fetch_value(start(made_data_dir), "SELECT answer FROM kept") == 42


@pytest.mark.parametrize("name", ["short", "x" * 100], ids=["short", "long"])
def test_a_data_folder_that_was_deleted_under_a_running_server_can_be_made_anew(
    made_data_dir: Path, folder: Path, name: str
) -> None:
    made_data_dir.rename(folder / name)
    address = start(folder / name)
    old_pid = find_pid(folder / name)
    shutil.rmtree(folder / name)

    start(folder / name)

    # The old server would later have deleted the new one's socket by its name.
    assert not is_postgres(old_pid)
    assert fetch_value(address, "SELECT 1") == 1
    embedded.stop(folder / name)
    if address.host.startswith("/tmp/memory-") and "test" not in address.host:
        Path(address.host).rmdir()

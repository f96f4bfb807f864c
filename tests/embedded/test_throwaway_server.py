import os
import time
from pathlib import Path

import psycopg

from memoryproject import embedded
from tests import server
from tests.embedded.steps import start


def test_a_throwaway_server_can_hold_test_databases_and_leaves_nothing() -> None:
    with server.throwaway_server() as throwaway:
        host = throwaway.address.host
        with psycopg.connect(
            host=host, dbname="memory", user=embedded.OWNER_ROLE, autocommit=True
        ) as connection:
            connection.execute("CREATE DATABASE test_memory")
        with psycopg.connect(host=host, dbname="test_memory", user="memory_owner") as connection:
            connection.execute("CREATE TABLE thing (embedding halfvec(3))")

    assert not throwaway.data_dir.parent.exists()
    assert embedded.find_running(throwaway.data_dir) is None


def test_leftovers_of_a_killed_run_are_removed_and_a_living_run_is_spared(
    made_data_dir: Path, folder: Path
) -> None:
    start(made_data_dir)
    abandoned = Path(f"{folder}-abandoned")
    abandoned.mkdir()
    for path in (folder, abandoned):
        os.utime(path, (time.time() - 3600,) * 2)

    server.remove_leftovers()

    assert not abandoned.exists()
    assert embedded.find_running(made_data_dir) is not None

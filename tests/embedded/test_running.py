import os
import sys
from pathlib import Path

import psycopg
import pytest

from memoryproject import embedded
from memoryproject.embedded.binaries import RETURN_MEMORY
from tests.embedded.steps import connect, fetch_value, find_pid, start


def test_a_second_start_attaches_to_the_running_server(running: Path) -> None:
    pid = find_pid(running)
    said: list[str] = []

    start(running, said)

    assert find_pid(running) == pid
    assert said == []


def test_the_owner_grants_and_the_app_role_creates_nothing(running: Path) -> None:
    address = embedded.locate(running).address
    with connect(address, embedded.OWNER_ROLE) as connection:
        connection.execute("CREATE TABLE thing (id int)")
        connection.execute("GRANT SELECT ON thing TO memory_app")

    assert fetch_value(address, "SELECT count(*) FROM thing", role=embedded.APP_ROLE) == 0
    with (
        connect(address, embedded.APP_ROLE) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("CREATE TABLE mine (id int)")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it in /proc")
def test_its_processes_give_memory_back(running: Path) -> None:
    environment = Path(f"/proc/{find_pid(running)}/environ").read_bytes().split(b"\0")
    assert {f"{name}={value}".encode() for name, value in RETURN_MEMORY.items()} < {*environment}


def test_libpq_variables_of_the_caller_are_ignored(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGHOSTADDR": "192.0.2.1", "PGSERVICE": "other", "PGPORT": "1"}.items():
        monkeypatch.setenv(name, value)

    start(running)

    assert embedded.find_running(running)
    assert os.environ["PGSERVICE"] == "other"


def test_no_content_of_a_failed_statement_reaches_the_log(running: Path) -> None:
    address = embedded.locate(running).address
    with connect(address, embedded.OWNER_ROLE) as connection:
        connection.execute("CREATE TABLE said (words text PRIMARY KEY)")
        connection.execute("INSERT INTO said VALUES ('a secret')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO said VALUES ('a secret')")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT %s::int", ["a secret"])

    assert "ready to accept connections" in embedded.locate(running).log.read_text()
    assert "secret" not in embedded.locate(running).log.read_text()


def test_settings_are_those_of_the_caller_over_ours(running: Path) -> None:
    address = embedded.locate(running).address
    assert fetch_value(address, "SELECT current_setting('fsync')") == "off"
    assert fetch_value(address, "SELECT current_setting('listen_addresses')") == ""
    assert fetch_value(address, "SELECT current_setting('max_connections')") == "100"

"""What only root meets: PostgreSQL must run as somebody else. Collected for root alone."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryproject import embedded
from memoryproject.embedded.accounts import service_account
from tests.embedded.steps import (
    NOBODY,
    connect,
    fetch_value,
    run_as_ordinary_user,
    start,
)

pytestmark = pytest.mark.gate


@pytest.fixture
def private_data_dir(folder: Path) -> Iterator[Path]:
    """A data folder that the service user cannot reach."""
    (folder / "home").mkdir(mode=0o700)
    data_dir = folder / "home" / "var"
    home = embedded.locate(data_dir).home
    try:
        yield data_dir
    finally:
        embedded.stop(data_dir, mode="immediate")
        shutil.rmtree(home)


def test_the_server_and_its_files_belong_to_the_service_user(made_data_dir: Path) -> None:
    start(made_data_dir)
    paths = embedded.locate(made_data_dir)
    assert paths.home.stat().st_uid == service_account().uid != 0
    assert paths.home.stat().st_mode & 0o777 == 0o700


def test_a_data_folder_out_of_reach_is_served_from_elsewhere_and_says_so_once(
    private_data_dir: Path,
) -> None:
    before = embedded.locate(private_data_dir)
    said: list[str] = []
    address = start(private_data_dir, said)

    assert vars(embedded.locate(private_data_dir)) == vars(before)
    assert before.home.parent == Path("/var/lib/memory-server")
    assert [line for line in said if "is kept in" in line] == [said[0]]
    assert (private_data_dir / "postgres").readlink() == before.home
    assert private_data_dir.parent.stat().st_mode & 0o777 == 0o700
    assert fetch_value(address, "SELECT 1") == 1

    embedded.stop(private_data_dir)
    said.clear()
    start(private_data_dir, said)
    assert said == []


def test_a_new_folder_at_the_path_of_a_deleted_one_starts_empty(private_data_dir: Path) -> None:
    with connect(start(private_data_dir), embedded.OWNER_ROLE) as connection:
        connection.execute("CREATE TABLE old (id int)")
    shutil.rmtree(private_data_dir)
    said: list[str] = []

    address = start(private_data_dir, said)

    assert fetch_value(address, "SELECT to_regclass('old') IS NULL") is True
    assert said[0].startswith("Set aside the database of an earlier")


def test_a_cluster_stays_where_it_is_when_its_parents_become_private(made_data_dir: Path) -> None:
    home = embedded.locate(made_data_dir).home
    made_data_dir.chmod(0o700)

    assert embedded.locate(made_data_dir).home == home
    with pytest.raises(embedded.EmbeddedPostgresError, match="cannot reach"):
        start(made_data_dir)
    made_data_dir.chmod(0o711)


def test_another_users_data_folder_is_refused_with_his_name(
    made_data_dir: Path, folder: Path
) -> None:
    answer = run_as_ordinary_user(lambda: str(start(made_data_dir)), site=folder)

    assert "belongs to the user" in answer
    assert "set MEMORY_DATA_DIR" in answer


def test_root_runs_an_ordinary_users_cluster_as_that_user(made_data_dir: Path) -> None:
    home = embedded.locate(made_data_dir).home
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)

    address = start(made_data_dir)

    assert fetch_value(address, "SELECT 1") == 1
    assert embedded.locate(made_data_dir).pid_file.stat().st_uid == NOBODY.pw_uid

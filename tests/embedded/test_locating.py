import os
from pathlib import Path

import pytest

from memoryproject import embedded
from tests.embedded.steps import fetch_value, start


def test_the_place_is_the_same_before_and_after_the_server_exists(data_dir: Path) -> None:
    before = embedded.locate(data_dir)
    assert not data_dir.exists()

    start(data_dir)

    assert vars(embedded.locate(data_dir)) == vars(before)
    assert before.home == data_dir / "postgres"
    assert before.socket_dir == before.home


def test_one_folder_under_two_names_is_one_place(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "other-name").symlink_to("real")
    assert vars(embedded.locate(folder / "other-name")) == vars(embedded.locate(folder / "real"))


def test_the_place_does_not_depend_on_tmpdir(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_path = folder / ("x" * 100)
    before = vars(embedded.locate(long_path))
    monkeypatch.setenv("TMPDIR", str(folder))
    assert vars(embedded.locate(long_path)) == before


@pytest.mark.parametrize("name", ["x" * 100, "one,two"], ids=["long", "comma"])
def test_a_path_that_no_socket_can_have_gets_a_short_private_socket_folder(
    made_data_dir: Path, folder: Path, name: str
) -> None:
    made_data_dir.rename(folder / name)
    paths = embedded.locate(folder / name)
    try:
        address = start(folder / name)

        assert fetch_value(address, "SELECT 1") == 1
        assert len(address.host) < 40
        assert paths.socket_dir.stat().st_mode & 0o777 == 0o700
        assert paths.home.parent == folder / name
    finally:
        embedded.stop(folder / name)
        paths.socket_dir.rmdir()


def test_a_planted_link_in_place_of_the_short_socket_folder_is_refused(folder: Path) -> None:
    data_dir = folder / ("x" * 100)
    (folder / "target").mkdir(mode=0o755)
    socket_dir = embedded.locate(data_dir).socket_dir
    socket_dir.symlink_to(folder / "target")
    try:
        with pytest.raises(embedded.EmbeddedPostgresError, match=r"memory-.* belongs to"):
            start(data_dir)
        assert (folder / "target").stat().st_uid == os.geteuid()
        assert (folder / "target").stat().st_mode & 0o777 == 0o755
    finally:
        socket_dir.unlink()


def test_a_data_folder_that_was_moved_keeps_its_database(made_data_dir: Path, folder: Path) -> None:
    made_data_dir.rename(folder / "after")

    address = start(folder / "after")

    assert fetch_value(address, "SELECT current_database()") == embedded.DATABASE
    assert address.host == str(folder / "after" / "postgres")

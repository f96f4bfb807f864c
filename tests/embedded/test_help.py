"""Asking for the text of a command starts and makes no database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "arguments",
    [("erase", "-h"), ("migrate", "--help")],
)
def test_help_makes_no_database(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    folder = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        | {"MEMORY_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not (folder / "postgres").exists()
    assert not list(folder.rglob("PG_VERSION"))

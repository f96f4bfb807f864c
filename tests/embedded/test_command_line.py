import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memoryproject.embedded", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.mark.gate
def test_the_commands_start_tell_query_and_stop(made_data_dir: Path) -> None:
    assert run("status", str(made_data_dir)).returncode == 3
    assert "answers" in run("start", str(made_data_dir)).stdout
    assert run("status", str(made_data_dir)).returncode == 0
    told = run("psql", "--role", "memory_app", str(made_data_dir), "-Atc", "SELECT current_user")
    assert told.stdout == "memory_app\n"
    assert run("stop", str(made_data_dir)).stdout == "PostgreSQL has stopped.\n"
    assert run("stop", str(made_data_dir)).stdout == "PostgreSQL was not running.\n"


def test_a_failure_is_one_line_without_a_traceback(folder: Path) -> None:
    (folder / "file").touch()
    failed = run("start", str(folder / "file"))
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1

"""Real servers in real folders; nothing here needs Django."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryproject import embedded
from tests.embedded.steps import start
from tests.server import throwaway_folder

# Root alone can change users; an ordinary user runs everything else as himself.
collect_ignore = [] if os.geteuid() == 0 else ["test_running_as_root.py"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can walk through; servers one level below it are stopped."""
    with throwaway_folder() as made:
        try:
            yield made
        finally:
            for link in made.glob("*/postgres"):
                embedded.stop(link.parent, mode="immediate")


@pytest.fixture
def data_dir(folder: Path) -> Path:
    """A data folder that does not exist yet."""
    return folder / "my data"


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A data folder with a complete server that is not running; to be copied only."""
    with throwaway_folder() as made:
        start(made / "template")
        embedded.stop(made / "template")
        yield made / "template"


@pytest.fixture
def made_data_dir(data_dir: Path, template: Path) -> Path:
    """A data folder of one's own whose server exists and is not running: no second initdb."""
    subprocess.run(["cp", "-a", str(template), str(data_dir)], check=True)
    return data_dir


@pytest.fixture(scope="module")
def running(template: Path) -> Iterator[Path]:
    """The data folder of a running server that the tests of one file share."""
    with throwaway_folder() as made:
        try:
            subprocess.run(["cp", "-a", str(template), str(made / "my data")], check=True)
            start(made / "my data")
            yield made / "my data"
        finally:
            embedded.stop(made / "my data", mode="immediate")

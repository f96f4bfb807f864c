"""Real servers in real folders; nothing here needs Django."""

import os
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
    return folder / "my data"


@pytest.fixture(scope="module")
def running() -> Iterator[Path]:
    """The data folder of a running server that the tests of one file share."""
    with throwaway_folder() as made:
        try:
            start(made / "my data")
            yield made / "my data"
        finally:
            embedded.stop(made / "my data", mode="immediate")

"""An installation to copy, made once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.reliability.product import Product, installed, web
from tests.server import throwaway_folder
from tests.template import copy_template

# Root alone can mount a small disk; see tests.embedded.conftest.
collect_ignore = [] if os.geteuid() == 0 else ["test_disk_full.py"]

SayFigures = Callable[[str], None]


@pytest.fixture
def say_figures(request: pytest.FixtureRequest) -> SayFigures:
    """Write a line of figures to the terminal, whatever is captured; everyday tests say none."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    is_gate = request.node.get_closest_marker("gate") is not None

    def say(line: str) -> None:
        if not is_gate:
            return
        with capture.global_and_fixture_disabled():
            sys.stdout.write(f"\n{line}\n")

    return say


@pytest.fixture(scope="session")
def template() -> Iterator[Product]:
    """An installation with a migrated database and a key, not running; to be copied only."""
    with throwaway_folder() as folder:
        made = Product(folder / "template")
        copy_template(made.data_dir)
        made.start()
        made.key = made.manage("create_api_key", "--tenant", "ana's")
        made.stop("fast")
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can walk through."""
    with throwaway_folder() as made:
        yield made


@pytest.fixture
def product(template: Product, folder: Path) -> Iterator[Product]:
    """An installation of the test's own, whose database runs."""
    with installed(template, folder) as copy:
        copy.start()
        yield copy


@pytest.fixture(scope="session")
def port(django_db_setup: None) -> Iterator[int]:
    """The port of a real web server on the run's database."""
    with web(os.environ) as found:
        yield found

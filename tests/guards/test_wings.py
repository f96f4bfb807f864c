"""A wing is a folder and a line of the settings; without tables of its own it can be left out."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings

from jobs.models import Kind
from memoryproject.wings import list_wings

FOLDER = settings.BASE_DIR / "wings"
WINGS = [name for name in settings.WINGS if name.startswith("wings.")]
HAVE_TABLES = {f"wings.{path.parent.name}" for path in FOLDER.glob("*/models.py")}


def test_each_folder_of_a_wing_is_listed() -> None:
    assert {f"wings.{path.parent.name}" for path in FOLDER.glob("*/wing.py")} == set(WINGS)


def test_jobs_of_each_kind_run_in_one_way() -> None:
    assert sorted(kind for wing in list_wings() for kind in wing.flows) == sorted(Kind)


@pytest.mark.gate
@pytest.mark.parametrize("wing", [name for name in WINGS if name not in HAVE_TABLES])
def test_the_product_loads_without_the_line_of_a_wing(wing: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.without", "WITHOUT": wing},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""A wing is a folder and a line of the settings; one on which no other rests can be left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

FOLDER = settings.BASE_DIR / "wings"
WINGS = [name for name in settings.WINGS if name.startswith("wings.")]


def list_users(wing: str) -> set[str]:
    """Return the other wings that import from one."""
    names = re.compile(rf"^\s*from {re.escape(wing)}[. ]", re.M)
    files = [path for path in FOLDER.rglob("*.py") if names.search(path.read_text("utf-8"))]
    return {f"wings.{path.relative_to(FOLDER).parts[0]}" for path in files} - {wing}


def test_each_folder_of_a_wing_is_listed() -> None:
    assert {f"wings.{path.parent.name}" for path in FOLDER.glob("*/wing.py")} == set(WINGS)


@pytest.mark.gate
@pytest.mark.parametrize("wing", [name for name in WINGS if list_users(name) <= {"wings.console"}])
def test_the_product_loads_without_a_wing_that_no_other_rests_on(wing: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.without", "WITHOUT": wing},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

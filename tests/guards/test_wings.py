"""A wing is a folder and a line of the settings, and can be left out.

One with tables takes with it the wings that import it: their modules could not be loaded. With
`console` the admin's sign-in goes, which the settings name (adapters, lockout, bell).
"""

from __future__ import annotations

import os
import subprocess
import sys

import grimp
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


def find_users(wing: str) -> set[str]:
    """Return the wing and all others that import it, directly or by others."""
    graph = grimp.build_graph("wings", cache_dir=None)
    for name in WINGS:
        graph.squash_module(name)
    return {wing, *graph.find_downstream_modules(wing)} & set(WINGS)


@pytest.mark.gate
@pytest.mark.parametrize("wing", [*WINGS, "all"])
def test_the_product_loads_without_the_line_of_a_wing(wing: str) -> None:
    gone = set(WINGS) if wing == "all" else {wing}
    if wing in HAVE_TABLES:
        gone = find_users(wing)
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.without", "WITHOUT": " ".join(gone)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

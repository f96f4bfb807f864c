"""Processes by what Linux's /proc tells; a pid alone may name another one by now."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
STARTED = 19
"""Place of the start time among the fields behind the name, in /proc/PID/stat."""


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """One process: no other ever has the same start time (clock ticks) and pid."""

    started: int
    pid: int


def look_up(pid: int) -> Process | None:
    """Return the living process of that pid; None for a zombie or where there is none."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(") ")[2].split()
    return None if state in "ZX" else Process(started=int(rest[STARTED - 1]), pid=pid)


def find_children(parent: Process) -> list[Process]:
    """Return the living children, the oldest first."""
    pids: list[int] = []
    for task in (PROC / str(parent.pid) / "task").glob("*/children"):
        try:
            pids += map(int, task.read_text().split())
        except OSError:
            continue  # that thread has just ended
    return sorted(found for pid in pids if (found := look_up(pid)) is not None)


def read_command(process: Process) -> list[str]:
    """Return the command line; empty where the process has ended."""
    try:
        text = (PROC / str(process.pid) / "cmdline").read_text(errors="replace")
    except OSError:
        return []
    return text.rstrip("\0").split("\0")


def find_marked(mark: str) -> list[Process]:
    """Return every living process that was started with `mark` ("NAME=value") around it."""
    wanted = mark.encode()
    found = []
    for folder in PROC.glob("[0-9]*"):
        try:
            is_marked = wanted in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # gone, or somebody else's
        process = look_up(int(folder.name)) if is_marked else None
        if process is not None:
            found.append(process)
    return sorted(found)


def send(process: Process, signum: signal.Signals) -> bool:
    """Send a signal to this very process; False where it has ended."""
    if look_up(process.pid) != process:
        return False
    try:
        os.kill(process.pid, signum)
    except ProcessLookupError:
        return False
    return True


def list_tree(root: Process | None) -> Iterator[Process]:
    """Yield a process and all below it; nothing where there is none."""
    if root is not None:
        yield root
        for child in find_children(root):
            yield from list_tree(child)

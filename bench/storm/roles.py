"""Which process of the product is which, told from who started whom and in which order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from bench.storm.processes import Process, find_children, look_up, read_command


class Role(StrEnum):
    """What a process does."""

    SUPERVISOR = "supervisor"
    CLUSTER = "cluster"
    WORKER = "worker"
    MONITOR = "monitor"
    PUSHER = "pusher"
    WEB = "gunicorn"
    WEB_WORKER = "gunicorn_worker"


Tree = dict[Process, Role]


class Naming:
    """Tells the children of one sentinel apart.

    django-q2 starts the workers, then the monitor, then the pusher; whoever comes later
    takes the place of one that ended. In the product's own sentinel the last two are threads.
    """

    def __init__(self, *, workers: int, helpers: int) -> None:
        self._all = Counter({Role.WORKER: workers, Role.MONITOR: helpers, Role.PUSHER: helpers})
        self._named: Tree = {}

    def name(self, children: Sequence[Process]) -> Tree:
        """Return the role of each child; `children` are the oldest first."""
        named = {child: self._named[child] for child in children if child in self._named}
        missing = self._all - Counter(named.values())
        free = [role for role in self._all for _ in range(missing[role])]
        for child in children:
            if child not in named:
                named[child] = free.pop(0) if free else Role.WORKER
        self._named = named
        return dict(named)


class ClusterTree:
    """Looks at one `manage.py worker`, or at one `qcluster`, and names its processes."""

    def __init__(self, *, workers: int, supervised: bool) -> None:
        self._workers = workers
        self._supervised = supervised
        self._sentinel: Process | None = None
        self._helpers = 0 if supervised else 1
        self._naming = Naming(workers=workers, helpers=self._helpers)

    @property
    def size(self) -> int:
        """How many processes there are when all are there."""
        return 2 + self._workers + 2 * self._helpers

    def look(self, pid: int) -> Tree:
        """Return the living processes below and including the one that was started."""
        root = look_up(pid)
        if root is None:
            return {}
        tree = {root: Role.SUPERVISOR if self._supervised else Role.CLUSTER}
        sentinel = next(iter(_find_forked(root)), None)
        if sentinel is None:
            return tree
        if sentinel != self._sentinel:
            self._sentinel = sentinel
            self._naming = Naming(workers=self._workers, helpers=self._helpers)
        return tree | {sentinel: Role.CLUSTER} | self._naming.name(_find_forked(sentinel))


class WebTree:
    """Looks at one gunicorn."""

    def __init__(self, *, workers: int) -> None:
        self._workers = workers

    @property
    def size(self) -> int:
        """How many processes there are when all are there."""
        return 1 + self._workers

    def look(self, pid: int) -> Tree:
        """Return the living processes below and including the one that was started."""
        root = look_up(pid)
        if root is None:
            return {}
        return {root: Role.WEB} | dict.fromkeys(_find_forked(root), Role.WEB_WORKER)


def read_cluster_id(tree: Tree, log: Path) -> str:
    """Return the id under which a tree's workers hold jobs; empty where there are none."""
    started = re.findall(r"cluster (\S+) started as process (\d+)", log.read_text(errors="replace"))
    ids = {int(pid): cluster for cluster, pid in started}
    of_tree = (ids.get(one.pid) for one, role in tree.items() if role is Role.CLUSTER)
    return next(filter(None, of_tree), "")


def _find_forked(parent: Process) -> list[Process]:
    """Return the children that run the same program: forks, not programs it started."""
    command = read_command(parent)
    return [child for child in find_children(parent) if read_command(child) == command]

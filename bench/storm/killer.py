"""Does what is planned: kills, crashes, freezes, and empties the queue."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator

import psycopg

from bench.storm import database
from bench.storm.events import WORKER_SIDE, Event
from bench.storm.field import Storm
from bench.storm.parts import Part
from bench.storm.processes import Process, send
from bench.storm.roles import Role, Tree, read_cluster_id
from bench.storm.schedule import WEIGHTS, Deed, draw_plan
from bench.storm.services import Service

DOWN_S = (1.0, 2.0)
"""Between the end of PostgreSQL and its start by us; a worker may start it before."""
LOOK_AGAIN_S = 0.2
WHOLE_WITHIN_S = 15.0


class Killer(Part):
    """Carries out the plan; late rather than not at all, until it is time to give up."""

    def __init__(self, storm: Storm, *, give_up_at: float) -> None:
        super().__init__("killer")
        self._storm = storm
        self._give_up_at = give_up_at
        self._random = random.Random(storm.options.seed + 1)
        self._frozen: dict[str, tuple[float, list[Process]]] = {}
        """By service: until when its workers are stopped, and which those are."""

    def work(self) -> None:
        """Work through the plan, then wake what is frozen."""
        started = time.monotonic()
        deeds = {Deed.CRASH: self._crash, Deed.PURGE: self._purge, Deed.FREEZE: self._freeze}
        for planned in draw_plan(self._storm.options):
            self._wait_until(started + planned.at_s)
            if time.monotonic() > self._give_up_at:
                break
            if planned.role is None:
                deeds[planned.deed]()
            else:
                self._kill(planned.role)
        while self._frozen:
            self._wake(max(until for until, _ in self._frozen.values()))

    def _wait_until(self, moment: float) -> None:
        """Sleep, and wake meanwhile whoever has been frozen long enough."""
        while time.monotonic() < moment:
            self._wake(min([moment, *(until for until, _ in self._frozen.values())]))
        self._wake(time.monotonic())

    def _wake(self, moment: float) -> None:
        time.sleep(max(0.0, moment - time.monotonic()))
        for name, (until, processes) in list(self._frozen.items()):
            if until <= time.monotonic():
                for process in processes:
                    send(process, signal.SIGCONT)
                del self._frozen[name]

    def _kill(self, role: Role) -> None:
        """Kill a process of that role, or of another if there is none at the moment."""
        while time.monotonic() < self._give_up_at:
            for wanted in self._try_roles(role):
                if self._kill_one(wanted):
                    return
            self._wake(time.monotonic() + LOOK_AGAIN_S)

    def _try_roles(self, first: Role) -> Iterator[Role]:
        yield first
        others = [role for role in WEIGHTS if role is not first]
        yield from sorted(others, key=lambda role: self._random.random() ** (1 / WEIGHTS[role]))

    def _kill_one(self, role: Role) -> bool:
        trees = self._look()
        found = [
            (service, process)
            for service, tree in trees.items()
            for process, named in tree.items()
            if named is role
        ]
        if not found:
            return False
        service, process = self._random.choice(found)
        cluster = read_cluster_id(trees[service], service.log)
        at = time.time()
        if not send(process, signal.SIGKILL):
            return False
        self._storm.diary.write(Event(at, Deed.KILL, role, service.name, cluster))
        return True

    def _look(self) -> dict[Service, Tree]:
        """Return the services' processes; none of one that is frozen: it must stay so."""
        services = self._storm.services
        return {one: {} if one.name in self._frozen else one.look() for one in services}

    def _crash(self) -> None:
        at = time.time()
        if database.crash(self._storm.data_dir):
            self._storm.diary.write(Event(at, Deed.CRASH))
        time.sleep(self._random.uniform(*DOWN_S))
        database.start(self._storm.data_dir)

    def _purge(self) -> None:
        try:
            with database.connect(self._storm.data_dir) as connection:
                connection.execute("DELETE FROM django_q_ormq")
        except psycopg.Error:
            return  # it is down just now
        self._storm.diary.write(Event(time.time(), Deed.PURGE))

    def _freeze(self) -> None:
        """Stop all workers of a cluster that is whole, as soon as there is one."""
        until = min(self._give_up_at, time.monotonic() + WHOLE_WITHIN_S)
        while time.monotonic() < until:
            trees = self._look()
            clusters = [
                service
                for service, tree in trees.items()
                if service.is_whole(tree) and WORKER_SIDE & set(tree.values())
            ]
            if clusters:
                service = self._random.choice(clusters)
                self._stop_workers(service, trees[service])
                return
            self._wake(time.monotonic() + LOOK_AGAIN_S)

    def _stop_workers(self, service: Service, tree: Tree) -> None:
        workers = [process for process, role in tree.items() if role is Role.WORKER]
        cluster = read_cluster_id(tree, service.log)
        at = time.time()
        stopped = [process for process in workers if send(process, signal.SIGSTOP)]
        self._storm.diary.write(Event(at, Deed.FREEZE, Role.WORKER, service.name, cluster))
        self._frozen[service.name] = (time.monotonic() + self._storm.options.frozen_s, stopped)

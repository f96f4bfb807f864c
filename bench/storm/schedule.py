"""When the storm does what: drawn before it starts, so that a seed means one plan."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

from bench.storm.options import Options
from bench.storm.roles import Role


class Deed(StrEnum):
    """What the storm does to the product."""

    KILL = "kill"
    CRASH = "crash"
    FREEZE = "freeze"
    PURGE = "purge"


WEIGHTS = {
    Role.SUPERVISOR: 3,
    Role.CLUSTER: 6,
    Role.WORKER: 8,
    Role.MONITOR: 3,
    Role.PUSHER: 3,
    Role.WEB: 4,
    Role.WEB_WORKER: 9,
}


@dataclass(frozen=True, slots=True, order=True)
class Planned:
    """One deed: so many seconds after the start, to whom if it is a kill."""

    at_s: float
    deed: Deed
    role: Role | None = None


def draw_plan(options: Options) -> list[Planned]:
    """Return all deeds, in order of time."""
    chance = random.Random(options.seed)
    roles = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=options.kills)
    last = options.seconds
    plan = [Planned(chance.uniform(1, last), Deed.KILL, role) for role in roles]
    for deed, count in ((Deed.CRASH, options.crashes), (Deed.PURGE, options.purges)):
        plan += [Planned(at_s, deed) for at_s in _spread(chance, count, last)]
    # What is frozen must wake while the storm lasts.
    until = max(1.0, last - options.frozen_s)
    plan += [Planned(at_s, Deed.FREEZE) for at_s in _spread(chance, options.freezes, until)]
    return sorted(plan, key=lambda planned: planned.at_s)


def _spread(chance: random.Random, count: int, seconds: float) -> list[float]:
    """Return one random moment in each of `count` equal parts of the time."""
    return [(part + chance.random()) * seconds / count for part in range(count)]

"""The classes of tenants: what each has stored, what it asks, and how often."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench import english
from bench.load.traffic import Call, Schedule

SMALL, HEAVY, HOSTILE, PROBE = "small", "heavy", "hostile", "probe"
SMALL_MESSAGES, HEAVY_MESSAGES, BATCH = 20, 60, 20
LARGE_BYTES, LARGE_BATCH = 60_000, 60
"""A batch of large messages stays just below what a body may have."""
PROBES_A_SECOND = 4.0
SENTENCES = 4_000

Choose = Callable[[Random], Call]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant, by its key and its conversations."""

    name: str
    key: str
    conversations: list[str] = field(default_factory=list)

    def post(self, path: str, **body: Any) -> Call:
        """Return a call with a body."""
        return Call(path, "POST", path, self.key, json.dumps(body).encode())


def make_tenants(make_key: Callable[[str], str], *, small: int) -> dict[str, list[Tenant]]:
    """Return the tenants by class: `small` small ones, one heavy, one hostile."""
    # How many of each, and how many conversations each has.
    counts = {SMALL: (small, 1), HEAVY: (1, 5), HOSTILE: (1, 10)}
    return {
        kind: [
            Tenant(name, make_key(name), [str(uuid.uuid4()) for _ in range(conversations)])
            for name in (f"{kind} {number}" for number in range(tenants))
        ]
        for kind, (tenants, conversations) in counts.items()
    }


class Mix:
    """Makes the calls that tenants fill themselves with, and those of a phase."""

    def __init__(self, tenants: Mapping[str, list[Tenant]], *, seed: int) -> None:
        self._tenants = tenants
        self._random = Random(seed)
        talk = english.make_talk(seed=seed, messages=SENTENCES)
        self._sentences = [row["content"] for row in talk]
        large = [self._write(LARGE_BYTES) for _ in range(LARGE_BATCH)]
        (hostile,) = tenants[HOSTILE]
        self._large = [
            hostile.post("add_messages", conversation_id=name, messages=as_messages(large))
            for name in hostile.conversations
        ]

    def fill(self, *, notes: int) -> list[Call]:
        """Return what brings the first data, the hostile tenant's `notes` before the flushes of
        what was posted: by then it is there, though calls are sent side by side."""
        talks, flushes = [], []
        for kind, messages in ((SMALL, SMALL_MESSAGES), (HEAVY, HEAVY_MESSAGES)):
            for tenant in self._tenants[kind]:
                for name in tenant.conversations:
                    seed = self._random.getrandbits(32)
                    talk = english.make_talk(seed=seed, messages=messages)
                    talks.append(tenant.post("add_messages", conversation_id=name, messages=talk))
                    flushes.append(tenant.post("flush", conversation_id=name))
        (hostile,) = self._tenants[HOSTILE]
        large = [hostile.post("notes", content=self._write(LARGE_BYTES)) for _ in range(notes)]
        # Messages of that size come in the phase itself: nobody waits for their jobs before.
        first = [
            hostile.post("add_messages", conversation_id=name, messages=as_messages(["Hello."]))
            for name in hostile.conversations
        ]
        return [*talks, *first, *large, *flushes]

    def schedule(self, *, seconds: float, rates: Mapping[str, float]) -> dict[str, Schedule]:
        """Return what each class sends in a phase, at so many calls a second on average."""
        choices = {SMALL: self._ask_as_small, HEAVY: self._ask_as_heavy}
        choices |= {HOSTILE: self._ask_as_hostile, PROBE: probe}
        return {
            kind: self._draw(choices[kind], rate, seconds) for kind, rate in rates.items() if rate
        }

    def _draw(self, choose: Choose, rate: float, seconds: float) -> Schedule:
        """Return calls at moments of chance, independent of each other."""
        schedule: Schedule = []
        at_s = self._random.expovariate(rate)
        while at_s < seconds:
            schedule.append((at_s, choose(self._random)))
            at_s += self._random.expovariate(rate)
        return schedule

    def _ask_as_small(self, random: Random) -> Call:
        tenant = random.choice(self._tenants[SMALL])
        (name,) = tenant.conversations
        if random.random() < 0.5:
            return self._retrieve(tenant, name)
        message = {"role": "user", "content": random.choice(self._sentences)}
        return tenant.post("add_message", conversation_id=name, message=message)

    def _ask_as_heavy(self, random: Random) -> Call:
        (tenant,) = self._tenants[HEAVY]
        name = random.choice(tenant.conversations)
        if random.random() < 0.75:
            return self._retrieve(tenant, name)
        messages = as_messages(random.sample(self._sentences, BATCH))
        return tenant.post("add_messages", conversation_id=name, messages=messages)

    def _ask_as_hostile(self, random: Random) -> Call:
        (tenant,) = self._tenants[HOSTILE]
        name = random.choice(tenant.conversations)
        page = f"messages?limit=200&conversation_id={name}"
        return random.choice(
            [
                tenant.post("search", query="*", max_results=100),
                random.choice(self._large),
                Call("messages", "GET", page, tenant.key),
                tenant.post("flush", conversation_id=name),
            ]
        )

    def _retrieve(self, tenant: Tenant, name: str) -> Call:
        """Return a question that no cache knows."""
        query = " ".join(self._random.sample(self._sentences, 2))
        return tenant.post("retrieve_memory", conversation_id=name, query=query, max_tokens=1000)

    def _write(self, size: int) -> str:
        """Return English of `size` characters."""
        text = ""
        while len(text) < size:
            text += " ".join(self._random.sample(self._sentences, 100)) + "\n"
        return text[:size]


def as_messages(texts: list[str]) -> list[dict[str, Any]]:
    """Return messages of a user, as the API takes them."""
    return [{"role": "user", "content": text} for text in texts]


def probe(random: Random) -> Call:
    """Return a look at whether the process answers at all."""
    return Call("health/live", "GET", "health/live")

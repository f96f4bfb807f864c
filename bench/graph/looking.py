"""Looks at single memories, contexts and reconstruction: by the service and over HTTP."""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from bench.graph import load
from bench.graph.texts import Texts
from bench.retrieval.quantiles import summarise
from bench.retrieval.wire import Wire
from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.models import Tenant
from wings.navigation import contexts, links, reading, reconstruction

HEAD = "| call | service p50 ms | p95 | HTTP p50 | p95 |\n" + "|---" * 5 + "|\n"
WARM_UP = 3
BUDGET = 200
"""Tokens of a chunk."""
ROOM = 2_000
"""Tokens of a context."""

Pair = tuple[Callable[[], Any], bytes]
"""A call of the service, and a request over HTTP for the same."""


class Looks:
    """Calls that name one memory, each any note of the tenant."""

    def __init__(self, given: argparse.Namespace, texts: Texts, wire: Wire) -> None:
        self._given, self._texts, self._wire = given, texts, wire
        self._chance = random.Random(time.time_ns())
        self._tenant = Tenant.objects.get(id=load.TENANT)

    def measure(self) -> Iterator[str]:
        """Yield the table, line by line."""
        yield HEAD
        calls = {
            "peek": self._peek,
            f"chunk, {BUDGET} tokens": self._chunk,
            "add to a context": self._add,
            "text of a context": self._read,
            "walk, depth 3, 100 memories": self._walk,
            "reconstruct_context, level 3": self._reconstruct,
        }
        for name, prepare in calls.items():
            yield self._measure(name, prepare)

    def _measure(self, name: str, prepare: Callable[[], Pair]) -> str:
        inside, outside = [], []
        for _ in range(self._given.times + WARM_UP):
            call, request = prepare()
            began = time.perf_counter()
            call()
            between = time.perf_counter()
            self._wire.ask(request)
            inside.append(between - began)
            outside.append(time.perf_counter() - between)
        service, http = (summarise(own[WARM_UP:]) for own in (inside, outside))
        return (
            f"| {name} | {service.p50:.1f} | {service.p95:.1f} | {http.p50:.1f} "
            f"| {http.p95:.1f} |\n"
        )

    def _peek(self) -> Pair:
        ours, theirs = self._pick(), self._pick()
        return (
            lambda: reading.peek(tenant=self._tenant, memory_id=ours),
            self._wire.write_get(f"memories/{theirs}"),
        )

    def _chunk(self) -> Pair:
        ours, theirs = self._pick(), self._pick()
        return (
            lambda: reading.chunk(tenant=self._tenant, memory_id=ours, max_tokens=BUDGET),
            self._wire.write_post(f"memories/{theirs}/chunk", {"max_tokens": BUDGET}),
        )

    def _add(self) -> Pair:
        ours, theirs = self._make_context(), self._make_context()
        memory, other = self._pick(), self._pick()
        return (
            lambda: contexts.add_memory(tenant=self._tenant, context_id=ours, memory_id=memory),
            self._wire.write_post(f"contexts/{theirs}/add", {"memory_id": str(other)}),
        )

    def _read(self) -> Pair:
        ours, theirs = self._make_context(), self._make_context()
        return (
            lambda: contexts.get_context(tenant=self._tenant, context_id=ours).text,
            self._wire.write_get(f"contexts/{theirs}/text"),
        )

    def _make_context(self) -> uuid.UUID:
        """Return a context that holds three memories."""
        made = contexts.create_context(tenant=self._tenant, made_by=None, max_tokens=ROOM)
        for _ in range(3):
            contexts.add_memory(tenant=self._tenant, context_id=made.id, memory_id=self._pick())
        return made.id

    def _walk(self) -> Pair:
        ours, theirs = self._pick(), self._pick()
        return (
            lambda: links.walk(tenant=self._tenant, start=ours, depth=3, at_most=100),
            self._wire.write_get(f"memories/{theirs}/walk?depth=3"),
        )

    def _reconstruct(self) -> Pair:
        """Ask both sides what neither has embedded before."""
        ours, theirs = (self._texts.ask(15) for _ in range(2))
        asked = reconstruction.ReconstructRequest(query=ours, since=load.FIRST)
        body = {"query": theirs, "since": say_moment(load.FIRST)}
        return (
            lambda: reconstruction.bring_back(tenant=self._tenant, request=asked, now=load.FIRST),
            self._wire.write_post("reconstruct_context", body),
        )

    def _pick(self) -> uuid.UUID:
        return load.pick_note(self._chance, self._given.notes)

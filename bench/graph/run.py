"""Walks from notes of each sort, searches of each sort, and prints what they took."""

from __future__ import annotations

import argparse
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from tqdm import tqdm

from bench.graph import load
from bench.graph.backend import Backend
from bench.graph.looking import Looks
from bench.graph.searching import SORTS, Searches
from bench.graph.texts import Texts
from bench.retrieval import databases, servers
from bench.retrieval.quantiles import summarise
from bench.retrieval.wire import Wire
from bench.storm.database import copy_template
from memoryproject import embedded
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import Tenant
from wings.navigation import links

DEPTHS = (1, 2, 3, 5)
HEAD = (
    "| start | depth | memories | cut | processor ms | p50 ms | p95 ms | max ms |\n"
    + "|---" * 8
    + "|\n"
)


def run(given: argparse.Namespace) -> None:
    """Load what is not there, walk, search, and print a table of each."""
    mark = {
        "version": load.VERSION,
        "notes": given.notes,
        "links": given.links,
        "hubs": given.hubs,
        "seed": given.seed,
    }
    is_loaded = databases.read_mark(settings.DATA_DIR) == mark
    texts = None
    if not is_loaded or "searches" in given.parts:
        texts = Texts(seed=given.seed, notes=given.notes)
    if not is_loaded and texts:
        databases.remove(settings.DATA_DIR)
        databases.write_mark(settings.DATA_DIR, None)
        copy_template(settings.DATA_DIR)
        embedded.ensure_started(settings.DATA_DIR)
        call_command("migrate", verbosity=0)
        load.load(given, texts)
        databases.write_mark(settings.DATA_DIR, mark)
    embedded.ensure_started(settings.DATA_DIR)
    try:
        if "walks" in given.parts:
            _tell(given)
        if texts and "searches" in given.parts:
            _tell_searches(given, texts)
    finally:
        connection.close()
        if not given.keep:
            databases.remove(settings.DATA_DIR)


def _tell(given: argparse.Namespace) -> None:
    tenant = Tenant.objects.get(id=load.TENANT)
    chance = random.Random(given.seed + 1)
    sorts: dict[str, Callable[[], uuid.UUID]] = {
        "any note": lambda: load.pick_note(chance, given.notes),
        "a hub": lambda: load.note_id(chance.choice(load.hub_places(given.notes, given.hubs))),
        "beside a hub": lambda: _beside_hub(chance, tenant, given),
    }
    if given.explain:
        _explain(tenant, sorts["any note"]())
        return
    write = sys.stdout.write
    write(HEAD)
    lines = [(name, pick, depth) for name, pick in sorts.items() for depth in DEPTHS]
    for name, pick, depth in tqdm(lines, unit=" lines", desc="walks"):
        for line in _measure(tenant, name, pick, depth, times=given.times):
            write(line)


def _tell_searches(given: argparse.Namespace, texts: Texts) -> None:
    """Search with the product's own web server running on the database."""
    key = tenancy.create_api_key(
        tenant=Tenant.objects.get(id=load.TENANT), name="benchmark", scopes=()
    )
    with servers.web(databases.FULL) as port:
        wire = Wire(port=port, key=key.secret)
        searches = Searches(given, texts, wire)
        if given.explain:
            for name in SORTS:
                sys.stdout.write(f"{name}\n\n{searches.explain(name)}\n")
            return
        for line in searches.measure():
            sys.stdout.write(line)
        for line in Looks(given, texts, wire).measure():
            sys.stdout.write(line)
        wire.close()


def _measure(
    tenant: Tenant, name: str, pick: Callable[[], uuid.UUID], depth: int, *, times: int
) -> Iterator[str]:
    """Yield the line of one sort and depth; every walk has a start of its own."""
    taken, sizes, cuts = [], [], 0
    backend, processor_ms = Backend(), 0.0
    for _ in range(times + 3):
        start = pick()
        ran, began = backend.read_ms(), time.perf_counter()
        walk = links.walk_from(tenant=tenant, starts=[start], depth=depth)
        taken.append(time.perf_counter() - began)
        processor_ms += backend.read_ms() - ran
        sizes.append(len(walk.nodes))
        cuts += walk.cut
    quantiles = summarise(taken[3:])
    middle = sorted(sizes)[len(sizes) // 2]
    share = 100 * cuts // len(sizes)
    yield (
        f"| {name} | {depth} | {middle} | {share} % | {processor_ms / len(taken):.1f} "
        f"| {quantiles.p50:.1f} | {quantiles.p95:.1f} | {max(taken[3:]) * 1000:.1f} |\n"
    )


def _beside_hub(chance: random.Random, tenant: Tenant, given: argparse.Namespace) -> uuid.UUID:
    hub = load.note_id(chance.choice(load.hub_places(given.notes, given.hubs)))
    near = links.links_of(tenant=tenant, memory_id=hub, at_most=200)
    return chance.choice(near).other_id


def _explain(tenant: Tenant, start: uuid.UUID) -> None:
    """Print the plan of a walk of three steps."""

    def explain(
        execute: Any, statement: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        execute(f"EXPLAIN (ANALYZE, BUFFERS, SETTINGS) {statement}", params, many, context)
        sys.stdout.write("\n".join(row[0] for row in context["cursor"].fetchall()) + "\n")
        return execute(statement, params, many, context)

    with connection.execute_wrapper(explain):
        links.walk_from(tenant=tenant, starts=[start], depth=3)

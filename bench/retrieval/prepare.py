"""From an empty folder to a loaded database, or an earlier run's database again."""

from __future__ import annotations

import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from bench.retrieval import databases, load
from bench.retrieval.databases import FULL, SMALL
from bench.retrieval.options import Options
from bench.retrieval.plan import Owner, Plan, conversation_id, make_plan
from bench.retrieval.wording import Wording
from bench.retrieval.workers import Work, load_all
from bench.storm.database import copy_template
from memoryproject import embedded
from memoryproject.ai import embeddings
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import Tenant

TENANT = "benchmark"
BYTES_A_ROW, BYTES_A_NUMBER = 3_000, 6
"""Roughly, with its share of everything; to say in time that a disk is too small."""


@dataclass(frozen=True)
class Loaded:
    """A database that is ready to be measured."""

    plan: Plan
    wording: Wording
    owner: Owner
    tenant: Tenant
    key: str
    load_s: float
    """How long it took to load, in this run or in the one that did it."""


@contextmanager
def loaded(options: Options) -> Iterator[Loaded]:
    """Start the server and load it, unless it holds what is wanted; stop it at the end."""
    mark = databases.read_mark(options.data_dir)
    wanted = _describe(options)
    fits = options.keep and mark is not None and mark["wanted"] == wanted
    if not fits:
        databases.remove(options.data_dir)
        databases.write_mark(options.data_dir, None)
        copy_template(options.data_dir)
    embedded.ensure_started(options.data_dir)
    try:
        plan = make_plan(scale=options.scale, full_sizes=options.full_sizes, seed=options.seed)
        wording = Wording(seed=options.seed)
        databases.migrate(FULL)
        if fits and mark is not None:
            databases.migrate(SMALL)
        else:
            mark = {"wanted": wanted, **_load(options, plan)}
        owner = _own(uuid.UUID(mark["tenant_id"]), options)
        if mark["model"] != owner.model:
            _rename_model(plan, owner.model)
        databases.write_mark(options.data_dir, {**mark, "model": owner.model})
        tenant = tenancy.get_or_create_tenant(name=TENANT)
        yield Loaded(plan, wording, owner, tenant, mark["key"], mark["load_s"])
    finally:
        if options.keep:
            embedded.stop(options.data_dir)
        else:
            databases.remove(options.data_dir)


def _describe(options: Options) -> dict[str, Any]:
    return {
        "scale": options.scale,
        "full_sizes": options.full_sizes,
        "seed": options.seed,
        "dim": options.dim,
    }


def _own(tenant_id: uuid.UUID, options: Options) -> Owner:
    return Owner(tenant_id=tenant_id, model=embeddings.get_embedder().name, dim=options.dim)


def _load(options: Options, plan: Plan) -> dict[str, Any]:
    _check_room(options, plan)
    tenant = tenancy.get_or_create_tenant(name=TENANT)
    made = tenancy.create_api_key(tenant=tenant, name="benchmark")
    databases.close_connections()
    databases.make_small()
    started = time.monotonic()
    with (
        databases.superuser(FULL) as full,
        databases.superuser(SMALL) as small,
        tqdm(total=plan.rows, unit=" rows", unit_scale=True, desc="loading") as bar,
    ):
        for connection in (full, small):
            load.prepare(connection)
        work = Work(plan, _own(tenant.id, options))
        load.load_conversations(full, small, work)
        load_all(work, report=bar.update)
        sys.stderr.write("Vacuuming …\n")
        for connection in (small, full):
            load.settle(connection)
    return {
        "tenant_id": str(tenant.id),
        "model": embeddings.get_embedder().name,
        "key": made.secret,
        "load_s": time.monotonic() - started,
    }


def _rename_model(plan: Plan, model: str) -> None:
    """Let the vectors of the measured conversations be those of another embedder.

    They are made up either way, and a search looks at its embedder's only.
    """
    measured = [conversation_id(plan, own.index) for own in plan.measured]
    for name in (FULL, SMALL):
        with databases.superuser(name) as connection:
            connection.execute(
                "UPDATE indexing_searchvector SET model = %s WHERE conversation_id = ANY(%s)",
                [model, measured],
            )
            load.settle(connection)


def _check_room(options: Options, plan: Plan) -> None:
    """Raise OSError before hours of work rather than in the middle."""
    needed = plan.rows * (BYTES_A_ROW + BYTES_A_NUMBER * options.dim)
    free = shutil.disk_usage(options.data_dir).free
    if free < needed:
        raise OSError(f"{needed >> 30} GB are needed for the database, {free >> 30} GB are free.")

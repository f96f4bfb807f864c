"""What it costs to write: rows of the index, messages over HTTP, the whole pipeline."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils import timezone

from bench.retrieval import databases, english
from bench.retrieval.clients import Ask, Clients, Side
from bench.retrieval.databases import Connection
from bench.retrieval.latency import WRITES_PLACE
from bench.retrieval.plan import conversation_id
from bench.retrieval.prepare import Loaded
from bench.retrieval.quantiles import Quantiles, summarise
from bench.retrieval.rows import LANGUAGE, LONGEST, SHORTEST, Directions
from bench.retrieval.wire import Wire
from indexing import services as index
from indexing.models import Memory, MemoryKind, SearchUnit, SearchVector, UnitKind
from indexing.services import Entry
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import Tenant

TENANT = "benchmark writes"
ENTRIES, ENTRIES_A_COMMIT = 2_000, 10
SINGLE_CLIENTS, BATCH_CLIENTS = 8, 4
MESSAGES_A_BATCH = 100
PIPELINE_CONVERSATIONS, PIPELINE_BATCH = 4, 50
SETTLE_WITHIN_S = 600.0
LOOK_AGAIN_S = 0.1

Report = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Writing:
    """What one row of the index costs: a unit with its vector, in the full database."""

    ms_a_row: float
    bytes_a_row: float
    """Of units and vectors, with their indexes: all of it, divided by all rows."""
    rows: int


def measure_entries(connection: Connection, data: Loaded) -> Writing:
    """Insert rows through the product's own service, then take them out again.

    They go to conversations that are measured, a few in each commit, as facts do.
    """
    tenant = Tenant.objects.get(id=data.owner.tenant_id)
    rng = np.random.default_rng([data.plan.seed, 6])
    topics = rng.choice(data.plan.topics.ravel(), ENTRIES)
    texts = data.wording.write(rng, topics, rng.integers(SHORTEST, LONGEST + 1, ENTRIES))
    vectors = Directions(seed=data.plan.seed, dim=data.owner.dim).draw(rng, topics)
    made: list[uuid.UUID] = []
    started = time.perf_counter()
    for first in range(0, ENTRIES, ENTRIES_A_COMMIT):
        measured = data.plan.measured[first // ENTRIES_A_COMMIT % len(data.plan.measured)]
        with transaction.atomic():
            memories = index.register(
                tenant=tenant, kind=MemoryKind.FACT, count=min(ENTRIES_A_COMMIT, ENTRIES - first)
            )
            index.add_entries(
                tenant=tenant,
                conversation_id=conversation_id(data.plan, measured.index),
                model=data.owner.model,
                entries=[
                    Entry(
                        memory=memory,
                        kind=UnitKind.FACT,
                        lexical=texts[first + place],
                        vector=vectors[first + place],
                        language=LANGUAGE,
                        valid_at=timezone.now(),
                    )
                    for place, memory in enumerate(memories)
                ],
            )
        made += [memory.id for memory in memories]
    took = time.perf_counter() - started
    size, rows = _measure_index(connection)
    _remove_entries(tenant, made)
    return Writing(ms_a_row=took * 1000 / ENTRIES, bytes_a_row=size / rows, rows=ENTRIES)


def _measure_index(connection: Connection) -> tuple[float, int]:
    size = connection.execute(
        "SELECT pg_total_relation_size(%s) + pg_total_relation_size(%s), count(*)"
        " FROM indexing_searchunit",
        [SearchUnit._meta.db_table, SearchVector._meta.db_table],
    ).fetchone()
    assert size is not None
    return float(size[0]), int(size[1])


def _remove_entries(tenant: Tenant, made: list[uuid.UUID]) -> None:
    with transaction.atomic():
        SearchVector.objects.of(tenant).filter(memory_id__in=made).delete()
        SearchUnit.objects.of(tenant).filter(memory_id__in=made).delete()
        Memory.objects.of(tenant).filter(id__in=made).delete()


@dataclass(frozen=True, slots=True)
class Ingest:
    """Messages accepted over HTTP, each answer after its commit is on disk."""

    latency: Quantiles
    requests_a_second: float
    messages_a_second: float


def make_key() -> str:
    """Return the secret of a new key of the tenant that all these writes belong to."""
    tenant = tenancy.get_or_create_tenant(name=TENANT)
    return tenancy.create_api_key(tenant=tenant, name="benchmark").secret


def measure_ingest(clients: Clients, data: Loaded, side: Side, *, seconds: float) -> Ingest:
    """Post for some seconds, each client to a conversation of its own; no worker runs."""
    count = SINGLE_CLIENTS if side is Side.ADD_MESSAGE else BATCH_CLIENTS
    size = 1 if side is Side.ADD_MESSAGE else MESSAGES_A_BATCH
    own = max(4, round(seconds * 8_000 / size / count))
    rng = np.random.default_rng([data.plan.seed, 7])
    asks = []
    for _ in range(count):
        texts = _write_messages(data, rng, own)
        conversation = uuid.uuid4()
        asks.append(
            [
                Ask(
                    side,
                    conversation,
                    messages=tuple(texts[(number + place) % own] for place in range(size)),
                    place=WRITES_PLACE,
                )
                for number in range(own)
            ]
        )
    samples = clients.run(asks, seconds=seconds, warm_up=2)
    flat = [sample.seconds for each in samples for sample in each]
    longest = max(sum(sample.seconds for sample in each) for each in samples)
    return Ingest(summarise(flat), len(flat) / longest, len(flat) * size / longest)


def _write_messages(data: Loaded, rng: np.random.Generator, count: int) -> list[str]:
    topics = rng.choice(data.plan.topics.ravel(), count)
    return data.wording.write(rng, topics, rng.integers(SHORTEST, LONGEST + 1, count))


@dataclass(frozen=True, slots=True)
class Pipeline:
    """From the first message posted until all is segmented and consolidated."""

    seconds: float
    messages: int
    episodes: int
    facts: int

    @property
    def messages_a_second(self) -> float:
        """Messages settled in a second."""
        return self.messages / self.seconds


def measure_pipeline(*, port: int, key: str, seed: int, messages: int, report: Report) -> Pipeline:
    """Post conversations, flush them, and wait for a running worker to finish them.

    Raises:
        RuntimeError: they did not settle in time.
    """
    wire = Wire(port=port, key=key)
    conversations = [uuid.uuid4() for _ in range(PIPELINE_CONVERSATIONS)]
    each = messages // PIPELINE_CONVERSATIONS
    talks = [
        english.make_talk(seed=seed * 100 + n, messages=each) for n in range(len(conversations))
    ]
    started = time.perf_counter()
    for conversation, talk in zip(conversations, talks, strict=True):
        for first in range(0, each, PIPELINE_BATCH):
            body = {
                "conversation_id": str(conversation),
                "messages": talk[first : first + PIPELINE_BATCH],
            }
            wire.ask(wire.write_post("add_messages", body), status=201)
        body = {"conversation_id": str(conversation)}
        wire.ask(wire.write_post("flush", body), status=202)
    settled = _await_quiet(wire, conversations, until=started + SETTLE_WITHIN_S, report=report)
    took = time.perf_counter() - started
    wire.close()
    return Pipeline(
        seconds=took,
        messages=each * len(conversations),
        episodes=sum(state["episodes"] for state in settled),
        facts=sum(state["facts"] for state in settled),
    )


def _await_quiet(
    wire: Wire, conversations: list[uuid.UUID], *, until: float, report: Report
) -> list[dict[str, int]]:
    reported = 0
    while time.perf_counter() < until:
        states = [
            json.loads(wire.ask(wire.write_get(f"conversations/{conversation}")))
            for conversation in conversations
        ]
        done = sum(state["messages"] - state["pending"] for state in states)
        report(done - reported)
        reported = done
        if not any(state["pending"] or state["open_jobs"] for state in states):
            return states
        time.sleep(LOOK_AGAIN_S)
    raise RuntimeError(f"The pipeline did not settle within {SETTLE_WITHIN_S:.0f} s.")


def clean_up() -> None:
    """Take out everything that the measurements over HTTP have written."""
    with databases.superuser(databases.FULL) as connection:
        databases.forget_tenant(connection, TENANT)

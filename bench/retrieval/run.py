"""One run of the benchmark, from the loaded database to the table."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.retrieval import (
    chart,
    databases,
    exactness,
    latency,
    load,
    machine,
    report,
    sizes,
    users,
    writing,
)
from bench.retrieval.clients import Ask, Clients, Place, Setup, Side
from bench.retrieval.databases import FULL, SMALL
from bench.retrieval.latency import Budget, Questions
from bench.retrieval.options import Options
from bench.retrieval.plan import conversation_id
from bench.retrieval.prepare import Loaded, loaded
from bench.retrieval.rows import LANGUAGE, Directions
from bench.retrieval.servers import web, worker
from episodic.models import Conversation
from indexing import approximate
from indexing.models import MemoryKind, VectorIndex
from memoryproject.ai import embeddings

CROWD = 8
THROUGHPUT_CLIENTS = 4
WARM_UP_ASKS = 6
WARM_UP_MESSAGES = 40
CONVERSATIONS_OF_A_USER = (1, 30, 500)
NEAR_FROM = 50_000
"""Rows of a conversation from which an approximate index is tried."""

Results = dict[str, Any]


def run(options: Options) -> None:
    """Measure all parts asked for; write results.json and latency.png and print a table."""
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        results = _measure(options)
    except databases.NotOurs as error:
        raise SystemExit(f"error: {error}") from error
    report.write(options.out, results)
    if "latency" in results:
        chart.draw(options.out / "latency.png", results)
    report.show(results, options.out)


def _measure(options: Options) -> Results:
    with loaded(options) as data:
        results: Results = {"about": machine.describe(options, data)}
        with ExitStack() as stack:
            bench = stack.enter_context(_started(options, data))
            parts = [part for name, part in PARTS.items() if name in options.parts]
            for part in tqdm(parts, unit=" parts", desc="measuring"):
                part(bench, results)
                report.write(options.out, results)
    return results


class Bench:
    """What the parts of a run share: the data, the servers and the clients."""

    def __init__(self, options: Options, data: Loaded, clients: Clients, key: str) -> None:
        self.options, self.data, self.clients = options, data, clients
        self.writes_key = key
        self.questions = Questions(
            data.plan, data.wording, run=random.SystemRandom().getrandbits(32)
        )
        self.budget = Budget(seconds=options.seconds, questions=options.questions)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The nominal sizes of the conversations asked."""
        return self.data.plan.sizes()


@contextmanager
def _started(options: Options, data: Loaded) -> Iterator[Bench]:
    with ExitStack() as stack:
        places = []
        for name in (FULL, SMALL):
            port = stack.enter_context(web(name))
            places.append(Place(databases.conninfo(name), port, data.key))
        stack.callback(writing.clean_up)
        key = writing.make_key()
        places.append(Place(places[0].conninfo, places[0].port, key))
        setup = Setup(tuple(places), data.owner.tenant_id, LANGUAGE, options.seed)
        clients = Clients(setup, CROWD)
        stack.callback(clients.close)
        bench = Bench(options, data, clients, key)
        _warm_up(bench)
        yield bench


def _warm_up(bench: Bench) -> None:
    """Let each process of the server load its embedder."""
    stream = bench.questions.stream(bench.sizes[0])
    for place in (latency.FULL_PLACE, latency.SMALL_PLACE):
        asks = [
            [Ask(Side.HTTP, *next(stream), place=place) for _ in range(WARM_UP_ASKS)]
            for _ in range(CROWD)
        ]
        bench.clients.run(asks)


def measure_latency(bench: Bench, results: Results) -> None:
    """Fill in each side's figures by size, for one client and for eight."""
    rows = []
    for size in tqdm(bench.sizes, unit=" sizes", desc="latency"):
        stream = bench.questions.stream(size)
        sides = [(side, latency.FULL_PLACE) for side in (*latency.COMPARED, *latency.LEGS)]
        alone = latency.compare(bench.clients, stream, sides, bench.budget)
        crowd = latency.crowd(bench.clients, CROWD, stream, latency.COMPARED, bench.budget)
        rows.append(
            {
                "size": size,
                "rows": _count_rows(bench, size),
                "1": {side: asdict(own) for (side, _), own in zip(sides, alone, strict=True)},
                str(CROWD): {
                    side: {**asdict(own.latency), "per_second": own.per_second}
                    for side, own in zip(latency.COMPARED, crowd, strict=True)
                },
            }
        )
        results["latency"] = rows


def _count_rows(bench: Bench, size: int) -> int:
    """Return how many rows a conversation of a nominal size really has, on average."""
    plan = bench.data.plan
    chosen = np.isin(plan.conversation, [own.index for own in plan.of_size(size)])
    total = int((1 + plan.messages + plan.facts)[chosen].sum())
    return round(total / len(plan.of_size(size)))


def measure_throughput(bench: Bench, results: Results) -> None:
    """Fill in how many searches four clients get in a second, by size."""
    rows = []
    for size in bench.sizes[:2]:
        (got,) = latency.crowd(
            bench.clients,
            THROUGHPUT_CLIENTS,
            bench.questions.stream(size),
            [Side.HTTP],
            bench.budget,
        )
        rows.append({"size": size, **asdict(got.latency), "per_second": got.per_second})
    results["throughput"] = rows


def measure_growth(bench: Bench, results: Results) -> None:
    """Fill in what a hundred times more rows of others do to the smallest conversations."""
    sides = [
        (side, place)
        for side in (Side.SQL, Side.HTTP)
        for place in (latency.SMALL_PLACE, latency.FULL_PLACE)
    ]
    stream = bench.questions.stream(bench.sizes[0])
    got = latency.compare(bench.clients, stream, sides, bench.budget)
    results["growth"] = {
        str(side): {"small": asdict(got[2 * n]), "full": asdict(got[2 * n + 1])}
        for n, side in enumerate((Side.SQL, Side.HTTP))
    }


def measure_exactness(bench: Bench, results: Results) -> None:
    """Fill in, by size, what the statement finds of what an exact search finds."""
    options, plan = bench.options, bench.data.plan
    rng = np.random.default_rng([plan.seed, 9])
    directions = Directions(seed=plan.seed, dim=options.dim)
    rows = []
    with databases.connect(databases.conninfo(FULL)) as connection:
        for size in tqdm(bench.sizes, unit=" sizes", desc="exactness"):
            asked = plan.of_size(size)[0]
            conversation = _find(bench, asked.index)
            count = options.exact_questions
            found = exactness.measure(
                connection,
                conversation,
                [bench.questions.draw(asked) for _ in range(count)],
                list(directions.draw(rng, rng.choice(plan.topics[asked.index], count))),
                model=bench.data.owner.model,
            )
            rows.append({"size": size, **asdict(found)})
            results["exactness"] = rows


def measure_near(bench: Bench, results: Results) -> None:
    """Fill in what approximate indexes change where they are worth it: build, ask, drop."""
    if bench.options.dim != embeddings.get_embedder().dim:
        return
    rows = []
    for size in [size for size in bench.sizes if size >= NEAR_FROM]:
        scopes = [
            approximate.plan_index(
                tenant=bench.data.tenant,
                conversation_id=conversation_id(bench.data.plan, own.index),
                shelf=shelf,
                model=bench.data.owner.model,
                dim=bench.options.dim,
            )
            for own in bench.data.plan.of_size(size)
            for shelf in (MemoryKind.FACT, MemoryKind.EPISODE)
        ]
        recalls = [_build_near(scope) for scope in tqdm(scopes, unit=" indexes", desc="near")]
        sides = [(side, latency.FULL_PLACE) for side in (*latency.COMPARED, Side.VECTORS)]
        got = latency.compare(bench.clients, bench.questions.stream(size), sides, bench.budget)
        for scope in scopes:
            approximate.drop(scope)
        row: Results = {"size": size, "recall_at_100": min(recalls)}
        row |= {str(side): asdict(own) for (side, _), own in zip(sides, got, strict=True)}
        rows.append(row)
        results["near"] = rows


def measure_users(bench: Bench, results: Results) -> None:
    """Fill in what answers cost whose lines are one user's, in one, some and many conversations."""
    rows = []
    for size in bench.sizes:
        source = conversation_id(bench.data.plan, bench.data.plan.of_size(size)[0].index)
        names = {parts: uuid.uuid5(source, str(parts)) for parts in CONVERSATIONS_OF_A_USER}
        with databases.superuser(FULL) as connection:
            for parts, name in names.items():
                users.copy_to_user(
                    connection,
                    tenant_id=bench.data.owner.tenant_id,
                    source=source,
                    user=str(name),
                    parts=parts,
                )
            load.settle(connection)
        whole = (Side.PACKED, latency.FULL_PLACE, source)
        sides = [whole, *((Side.USER, latency.FULL_PLACE, name) for name in names.values())]
        got = latency.compare(bench.clients, bench.questions.stream(size), sides, bench.budget)
        named = ["conversation", *map(str, names)]
        rows.append({"size": size, **{n: asdict(own) for n, own in zip(named, got, strict=True)}})
        results["users"] = rows


def _build_near(index: VectorIndex) -> float:
    """Build an index, let searches use it and return its recall."""
    approximate.build(index, report=lambda done, total: None)
    recall = approximate.try_out(index).recall
    index.recall = recall
    index.save(force_insert=True)
    return recall


def _find(bench: Bench, index: int) -> Conversation:
    own = conversation_id(bench.data.plan, index)
    return Conversation(
        id=own, external_id=own, tenant_id=bench.data.owner.tenant_id, language=LANGUAGE
    )


def measure_sizes(bench: Bench, results: Results) -> None:
    """Fill in what is on the disk."""
    with databases.superuser(FULL) as connection:
        results["sizes"] = {
            "database_bytes": sizes.database_bytes(connection),
            "relations": sizes.measure(connection),
        }


def measure_writing(bench: Bench, results: Results) -> None:
    """Fill in what a row of the index costs."""
    with databases.superuser(FULL) as connection:
        results["writing"] = asdict(writing.measure_entries(connection, bench.data))


def measure_pipeline(bench: Bench, results: Results) -> None:
    """Fill in how fast a worker makes episodes and facts of what is posted."""
    if bench.options.synthetic_embedder:
        return  # without meaning in the vectors it would cut at random
    port = bench.clients.places[latency.WRITES_PLACE].port
    seed, messages = bench.options.seed, bench.options.pipeline_messages
    with worker(FULL), tqdm(total=messages, unit=" messages", desc="pipeline") as bar:
        # Its processes load their models with the first job.
        writing.measure_pipeline(
            port=port,
            key=bench.writes_key,
            seed=seed + 1,
            messages=WARM_UP_MESSAGES,
            report=lambda done: None,
        )
        got = writing.measure_pipeline(
            port=port, key=bench.writes_key, seed=seed, messages=messages, report=bar.update
        )
    results["pipeline"] = {**asdict(got), "messages_a_second": got.messages_a_second}


def measure_ingest(bench: Bench, results: Results) -> None:
    """Fill in how many messages are accepted in a second."""
    results["ingest"] = {
        str(side): asdict(
            writing.measure_ingest(bench.clients, bench.data, side, seconds=bench.options.seconds)
        )
        for side in (Side.ADD_MESSAGE, Side.ADD_MESSAGES)
    }


# The worker of the pipeline must find nothing else to do: it comes before what is only posted.
PARTS = {
    "latency": measure_latency,
    "throughput": measure_throughput,
    "growth": measure_growth,
    "exactness": measure_exactness,
    "near": measure_near,
    "users": measure_users,
    "sizes": measure_sizes,
    "writing": measure_writing,
    "pipeline": measure_pipeline,
    "ingest": measure_ingest,
}

"""Fills conversations through the API, asks them, and tells how long answers took."""

from __future__ import annotations

import time
import uuid
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from tqdm import tqdm

from bench import english
from bench.command import tell
from bench.retrieval.wording import Wording
from bench.server import Server
from bench.storm import database
from bench.storm.client import Client
from bench.tables import measure_quantiles, render_table

NAMESPACE = uuid.UUID("6f6c5e1e-9d1c-4b4e-8d8a-0b1f6a3c7e55")
BATCH = 100
WORDS_A_QUESTION = 15
QUESTIONS_A_CALL = 3
BUDGET_TOKENS = 1000
PLAIN, PACKED = "plain", f"{BUDGET_TOKENS} tokens"
SEVERAL = f"{PACKED}, {QUESTIONS_A_CALL} questions"
WARM_UP = 6
"""Questions of each side that are not timed: every process loads its model."""
ROWS = """
SELECT count(*) FROM indexing_searchunit WHERE conversation_id =
    (SELECT id FROM episodic_conversation WHERE external_id = %s)
"""

Figures = dict[str, Any]
Body = dict[str, object]


def fill(server: Server, client: Client, *, sizes: list[int], seed: int) -> None:
    """Post conversations of so many messages, and do all the work that follows.

    Each message is a plain sentence, of which facts are made, and a made-up one beside it, whose
    words are as rare as those of real text. Batches of all conversations come by turns.
    """
    wording, rng = Wording(seed=seed), np.random.default_rng([seed, 2])
    for first in tqdm(range(0, max(sizes), BATCH), unit=" batches", desc="posting"):
        for size in [size for size in sizes if size > first]:
            talk = english.make_talk(seed=seed + size + first, messages=min(BATCH, size - first))
            for message in talk:
                message["content"] += f" {wording.write(rng)}"
                del message["timestamp"]
            client.require("add_messages", conversation_id=_name(size), messages=talk)
    for size in sizes:
        client.require("flush", conversation_id=_name(size))
    tell("Making episodes and facts …")
    tell(f"… {server.manage('worker', '--drain')}")


def _name(size: int) -> str:
    return str(uuid.uuid5(NAMESPACE, str(size)))


def measure(server: Server, client: Client, options: Namespace) -> Figures:
    """Return the latencies of each side by size of the conversation."""
    wording, figures = Wording(seed=options.seed), {}
    for size in sorted(options.sizes):
        with database.connect(server.data_dir) as connection:
            (rows,) = connection.execute(ROWS, [_name(size)]).fetchone() or (0,)
        tell(f"{size:,} messages, {rows:,} rows …")
        took = _compare(client, _ask(wording, size), options)
        sides = {name: {**measure_quantiles(own), "count": len(own)} for name, own in took.items()}
        figures[size] = {"rows": rows, "sides": sides}
    return figures


def _ask(wording: Wording, size: int) -> Iterator[dict[str, Body]]:
    """Yield the body of each side's call, without end; no run asks what another has asked."""
    rng = np.random.default_rng()
    while True:
        words, *more = (wording.ask(rng, WORDS_A_QUESTION) for _ in range(QUESTIONS_A_CALL))
        plain: Body = {"conversation_id": _name(size), "query": words}
        packed = plain | {"max_tokens": BUDGET_TOKENS}
        yield {PLAIN: plain, PACKED: packed, SEVERAL: packed | {"queries": more}}


def _compare(
    client: Client, stream: Iterator[dict[str, Body]], options: Namespace
) -> dict[str, list[float]]:
    """Put each question to every side; which comes first changes: it finds the rows less warm."""
    took: dict[str, list[float]] = {PLAIN: [], PACKED: [], SEVERAL: []}
    names = list(took)
    until = time.monotonic() + options.seconds * len(names)
    for number in tqdm(range(options.questions + WARM_UP), unit=" questions", desc="asking"):
        bodies, first = next(stream), number % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            content = client.require("retrieve_memory", **bodies[name])
            if number >= WARM_UP:
                took[name].append(time.perf_counter() - started)
            if b"## Episodic Memories" not in content:
                raise RuntimeError("An answer without memories was timed.")
        if number > WARM_UP and time.monotonic() > until:
            break
    return took


def render(figures: Figures) -> str:
    """Return the figures as a table."""
    rows = []
    for row in figures.values():
        base = row["sides"][PACKED]["p50"]
        for name, own in row["sides"].items():
            cells = [own[quantile] for quantile in ("p50", "p95", "p99")]
            rows.append([f"{row['rows']:,} rows, {name}", *cells, own["p50"] / base, own["count"]])
    return render_table(["answer", "p50 ms", "p95", "p99", f"/ {PACKED}", "count"], rows)

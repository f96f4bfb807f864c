"""Searches of the loaded tenant: by SQL alone, with the embedding, and over HTTP."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from tqdm import tqdm

from bench.graph import load
from bench.graph.backend import Backend
from bench.graph.texts import Texts
from bench.retrieval.quantiles import summarise
from bench.retrieval.wire import Wire
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.models import Tenant
from retrieval.search.in_conversation import Meaning
from retrieval.search.in_tenant import EVERYTHING, SearchRequest
from wings.navigation import finding

HEAD = (
    "| search | match | processor ms | SQL p50 ms | p95 | embedding + SQL p50 | HTTP p50 | p95 "
    "| HTTP / (embedding + SQL) |\n" + "|---" * 9 + "|\n"
)
WARM_UP = 3
SECONDS_AT_MOST = 60.0
"""For a line; a slow one is told from fewer searches."""
QUESTION = 15
"""Words, frequent and rare."""
LEGS = (f"{QUESTION} words, without meaning", f"{QUESTION} words, meaning alone")
SORTS: dict[str, tuple[int, dict[str, Any]]] = {
    "3 words": (3, {}),
    f"{QUESTION} words": (QUESTION, {}),
    f"{QUESTION} words, one user of 100": (QUESTION, {"user_id": load.user_of(7)}),
    f"{QUESTION} words, the older half": (QUESTION, {"until": load.FIRST}),
    f"{QUESTION} words, 2 hops": (QUESTION, {"max_hops": 2}),
    "`*`": (0, {}),
    "`*`, by recency": (0, {"sort_by": "recency"}),
    "`*`, one user of 100": (0, {"user_id": load.user_of(7)}),
}
"""By name: words of the question (0: everything), and what narrows or widens it."""


@dataclass
class Times:
    """Seconds, by side, the database's milliseconds, and the memories that matched."""

    sql: list[float] = field(default_factory=list)
    embedded: list[float] = field(default_factory=list)
    http: list[float] = field(default_factory=list)
    matched: list[int] = field(default_factory=list)
    processor_ms: list[float] = field(default_factory=list)


class Searches:
    """Questions to the tenant that nobody has asked before."""

    def __init__(self, given: argparse.Namespace, texts: Texts, wire: Wire) -> None:
        self._given, self._texts, self._wire = given, texts, wire
        self._tenant = Tenant.objects.get(id=load.TENANT)
        self._backend = Backend()

    def measure(self) -> Iterator[str]:
        """Yield the table, line by line."""
        yield HEAD
        yield self._measure_leg(LEGS[0], by_words=True)
        yield self._measure_leg(LEGS[1], by_words=False)
        for name in tqdm(SORTS, unit=" lines", desc="searches"):
            yield self._measure_search(name)

    def explain(self, name: str) -> str:
        """Return the plans of one search's statements."""
        plans: list[str] = []

        def note_plan(execute: Any, statement: str, given: Any, *rest: Any) -> Any:
            if "aim AS MATERIALIZED" in statement:
                with connection.connection.cursor() as cursor:
                    cursor.execute("EXPLAIN (ANALYZE, BUFFERS, SETTINGS) " + statement, given)
                    plans.append("\n".join(row[0] for row in cursor.fetchall()))
            return execute(statement, given, *rest)

        with connection.execute_wrapper(note_plan):
            self._ask_inside(self._draw(name), Times())
        return "\n\n".join(plans)

    def _draw(self, name: str) -> SearchRequest:
        """Return a request of that sort; a moment named in it is the middle of all notes."""
        count, narrow = SORTS[name]
        words = self._texts.ask(count) if count else EVERYTHING
        middle = load.FIRST + load.STEP * (self._given.notes // 2)
        moments = {one: middle for one in ("since", "until") if one in narrow}
        return SearchRequest(query=words, **(narrow | moments))

    def _measure_leg(self, name: str, *, by_words: bool) -> str:
        times = Times()
        for _ in range(self._given.times + WARM_UP):
            words = self._texts.ask(QUESTION)
            vector = None if by_words else embeddings.embed_query(words)
            request = SearchRequest(query=words if by_words else "…")
            self._find(request, vector, times)
        sql = summarise(times.sql[WARM_UP:])
        return f"| {name} | {_average(times)} | {sql.p50:.1f} | {sql.p95:.1f} | | | | |\n"

    def _measure_search(self, name: str) -> str:
        """Put the same questions to both sides; who asks first changes with each."""
        times = Times()
        until = time.monotonic() + SECONDS_AT_MOST
        while len(times.http) < self._given.times + WARM_UP and time.monotonic() < until:
            request = self._draw(name)
            sides = [self._ask_inside, self._ask_outside]
            for side in sides if len(times.http) % 2 else sides[::-1]:
                side(request, times)
        sql, embedded, http = (
            summarise(own[WARM_UP:] or own) for own in (times.sql, times.embedded, times.http)
        )
        return (
            f"| {name} | {_average(times)} | {sql.p50:.1f} | {sql.p95:.1f} | {embedded.p50:.1f} "
            f"| {http.p50:.1f} | {http.p95:.1f} | {http.p50 / embedded.p50:.2f} |\n"
        )

    def _ask_inside(self, request: SearchRequest, times: Times) -> None:
        began = time.perf_counter()
        vector = None if request.is_everything else embeddings.embed_query(request.query)
        embedded = time.perf_counter()
        self._find(request, vector, times)
        times.embedded.append(times.sql[-1] + embedded - began)

    def _find(self, request: SearchRequest, vector: Vectors | None, times: Times) -> None:
        model = "" if vector is None else embeddings.get_embedder().name
        meaning = Meaning(vector, model)
        ran = self._backend.read_ms()
        began = time.perf_counter()
        found = finding.find_with(tenant=self._tenant, request=request, meaning=meaning)
        times.sql.append(time.perf_counter() - began)
        times.processor_ms.append(self._backend.read_ms() - ran)
        times.matched.append(found.total)

    def _ask_outside(self, request: SearchRequest, times: Times) -> None:
        asked = {"query": request.query, "max_hops": request.max_hops, "sort_by": request.sort_by}
        if request.user_id:
            asked["user_id"] = request.user_id
        if request.until:
            asked["until"] = say_moment(request.until)
        sent = self._wire.write_post("search", asked)
        began = time.perf_counter()
        answer = self._wire.ask(sent)
        times.http.append(time.perf_counter() - began)
        assert json.loads(answer)["items"]


def _average(times: Times) -> str:
    """Return how many memories matched, and what that took of a processor: two cells."""
    matched = sum(times.matched) // len(times.matched)
    return f"{matched:,} | {sum(times.processor_ms) / len(times.processor_ms):.0f}"

"""The web server's processes answer a scrape together, and leave nothing behind."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.reliability.client import Caller
from tests.reliability.conftest import SayFigures
from tests.reliability.product import Product, web

pytestmark = pytest.mark.gate
CALLS = 40
SCRAPES = 20


def read(content: bytes) -> tuple[float, float]:
    """Return how many messages were posted, and how many threads answer."""
    values = {
        (sample.name, sample.labels.get("route")): sample.value
        for family in text_string_to_metric_families(content.decode())
        for sample in family.samples
    }
    threads = values["memory_answer_threads", None]
    return values.get(("memory_requests_total", "api/v0/add_message"), 0.0), threads


def test_two_processes_count_together(
    product: Product, tmp_path: Path, say_figures: SayFigures
) -> None:
    around = {**product.around(), "TMPDIR": str(tmp_path)}
    with web(around, workers=2) as port:
        caller = product.caller(port)
        for _ in range(CALLS):
            message = {"role": "user", "content": "Something."}
            body = {"conversation_id": str(uuid.uuid4()), "message": message}
            assert caller.post("add_message", body).status == 201
        answers, times = [], []
        for _ in range(SCRAPES):
            started = time.perf_counter()
            answers.append(Caller(port, "none").ask("GET", "/metrics"))
            times.append(time.perf_counter() - started)
        assert {read(answer.content) for answer in answers} == {(CALLS, 16)}
        files = list(tmp_path.glob("memory-metrics-*/*.db"))
        writers = {name.stem.rpartition("_")[2] for name in files}
        assert len(writers) == 2 and str(os.getpid()) not in writers
        times.sort()
        say_figures(
            f"a scrape: first {max(times) * 1000:.0f} ms at most, median "
            f"{times[SCRAPES // 2] * 1000:.1f} ms, {len(answers[-1].content)} bytes"
        )
    assert list(tmp_path.glob("memory-metrics-*")) == []

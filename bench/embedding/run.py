"""Measures embedding in each process against a server that all share: `python -m bench.embedding`.

Both sides embed the same queries with the default model. The server is a process of its own
that speaks OpenAI's protocol, so that MEMORY_EMBEDDINGS=openai asks it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from http.server import ThreadingHTTPServer
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import django

from bench.retrieval import english
from bench.retrieval.endpoint import Handler
from bench.tables import render_table

QUERIES = 300
WARM = 20
STARTED_WITHIN_S = 60
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
HEADER = ["", "processor ms a query", "p50 ms", "MB a process"]
HERE = "127.0.0.1"


class Shared(Handler):
    """Answers vectors of the default model, and to GET the processor seconds used so far."""

    def do_GET(self) -> None:
        """Answer how long this process has computed."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(time.process_time()).encode())
        self.close_connection = True

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector a text."""
        made = import_module("memoryproject.ai.embeddings").LocalEmbedder().embed_passages(texts)
        rows: list[list[float]] = made.tolist()
        return rows


def run() -> None:
    """Measure both, each in a process of its own, and print a line for each."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    rows = []
    try:
        if not ours.poll(STARTED_WITHIN_S):
            sys.exit("The server does not start.")
        port = ours.recv()
        for name, kind in (("in each process", "local"), ("by a server of all", "openai")):
            with ProcessPoolExecutor(1, mp_context=context) as client:
                figures = client.submit(_measure, kind, port).result()
            rows.append([name, *(f"{figure:.1f}" for figure in figures)])
    finally:
        server.terminate()
        server.join()
    sys.stdout.write(render_table(HEADER, rows) + "\n")


def _serve(ready: Connection) -> None:
    django.setup()
    server = ThreadingHTTPServer((HERE, 0), Shared)
    ready.send(server.server_address[1])
    server.serve_forever()


def _measure(kind: str, port: int) -> tuple[float, float, float]:
    """Return processor and clock milliseconds of a query, and what embedding adds to memory."""
    os.environ |= {
        "MEMORY_EMBEDDINGS": kind,
        "MEMORY_EMBEDDING_DIM": "384",
        "OPENAI_BASE_URL": f"http://{HERE}:{port}/v1",
    }
    django.setup()
    embeddings = import_module("memoryproject.ai.embeddings")
    texts = list(dict.fromkeys(m["content"] for m in english.make_talk(seed=1, messages=1_000)))
    before = _read_memory()
    for text in texts[:WARM]:
        embeddings.get_embedder().embed_query(text)
    memory = _read_memory() - before
    spent = time.process_time() + _read_clock(port)
    took = []
    for text in texts[WARM : WARM + QUERIES]:
        started = time.perf_counter()
        embeddings.get_embedder().embed_query(text)
        took.append(1000 * (time.perf_counter() - started))
    spent = time.process_time() + _read_clock(port) - spent
    return 1000 * spent / len(took), median(took), memory


def _read_clock(port: int) -> float:
    with urlopen(f"http://{HERE}:{port}/", timeout=30) as answer:
        return float(answer.read())


def _read_memory() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_MB

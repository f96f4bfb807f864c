"""A loopback endpoint of made-up vectors, for sizes that no embedder of ours has.

Its vectors mean nothing; they cost a request each, as a provider's do.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection

import numpy as np


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/embeddings`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    dim = 0

    def do_POST(self) -> None:
        """Answer one vector a text, the same for the same text."""
        length = int(self.headers["Content-Length"])
        texts = json.loads(self.rfile.read(length))["input"]
        rows = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(self.embed(texts))
        ]
        body = json.dumps({"object": "list", "data": rows, "model": "synthetic"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector a text."""
        return [make_vector(text, self.dim) for text in texts]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal shows progress."""


def make_vector(text: str, dim: int) -> list[float]:
    """Return a direction that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    row: list[float] = np.random.default_rng(seed).standard_normal(dim).round(4).tolist()
    return row


def _run(dim: int, ready: Connection) -> None:
    Handler.dim = dim
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    ready.send(server.server_address[1])
    server.serve_forever()


@contextmanager
def serve(dim: int, *, needed: bool) -> Iterator[None]:
    """Run the endpoint in a process of its own and point the settings at it, if needed."""
    if not needed:
        yield
        return
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(dim, theirs), daemon=True)
    process.start()
    try:
        os.environ |= {
            "MEMORY_EMBEDDINGS": "openai",
            "MEMORY_EMBEDDING_DIM": str(dim),
            "MEMORY_EMBEDDING_MODEL": f"synthetic-{dim}",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{ours.recv()}/v1",
        }
        yield
    finally:
        process.terminate()
        process.join()

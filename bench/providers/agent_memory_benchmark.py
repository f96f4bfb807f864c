"""The memory server in vectorize-io/agent-memory-benchmark, beside the memories compared there.

In the Python environment of the harness `pip install clients/python` of this repository; copy this
file to `src/memory_bench/memory/memory_server.py`; add to `__init__.py` beside it:

    from .memory_server import MemoryServer
    REGISTRY["memory-server"] = type("MemoryServerProvider", (MemoryServer, MemoryProvider), {})

Then `MEMORY_URL=http://127.0.0.1:8000 MEMORY_KEY=… uv run omb run --memory memory-server …`. A
document is a session; for any `k` the answer is one, in `MEMORY_MAX_TOKENS` (default: 2000).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from memory_server_client import Client

NOBODY, BATCH, WITHIN_S = "benchmark", 100, 3600.0


@dataclass
class Document:
    """A document as the harness has it."""

    id: str
    content: str
    user_id: str | None = None
    messages: list[dict[str, Any]] | None = None
    timestamp: str | None = None
    context: str | None = None


class MemoryServer:
    """A provider: ingests the documents of each user, and retrieves one answer for a query."""

    name, kind, concurrency = "memory-server", "local", 4
    description = "Self-hosted memory server: one answer from facts and messages in a token budget."

    def __init__(self) -> None:
        self._client = Client(timeout_s=120.0)
        self._max_tokens = int(os.environ.get("MEMORY_MAX_TOKENS", "2000"))

    def cleanup(self) -> None:
        """Close the connections, as the harness asks at the end."""
        self._client.close()

    def ingest(self, documents: Sequence[Any]) -> None:
        """Store documents, each once, and wait until all are processed."""
        jobs = []
        for document in documents:
            user = document.user_id or NOBODY
            talk = uuid5(NAMESPACE_URL, f"{user} {document.id}")
            messages = [*read_messages(document)]
            for start in range(0, len(messages), BATCH):
                batch, key = messages[start : start + BATCH], f"{talk} {start}"
                self._client.add_messages(talk, batch, user_id=user, idempotency_key=key)
            jobs.append(self._client.close_conversation(talk))
        for job in jobs:
            self._client.wait_for(job, timeout_s=WITHIN_S)

    def retrieve(
        self,
        query: str,
        k: int = 10,
        user_id: str | None = None,
        query_timestamp: str | None = None,
    ) -> tuple[list[Document], None]:
        """Return what is known of a user, as one document, or none."""
        options = {"scope": "user", "user_id": user_id or NOBODY, "max_tokens": self._max_tokens}
        text = str(self._client.retrieve_memory(None, query, **options))
        return [Document("answer", text, user_id)] if text.strip() else [], None


def read_messages(document: Any) -> Iterator[Any]:
    """Yield a document's turns, which may be JSON in its content; else the content is one."""
    try:
        turns: Any = document.messages or json.loads(document.content)
    except ValueError:
        turns = [{"content": document.content}]
    for turn in turns:
        content, name = turn.get("content") or turn.get("text"), turn.get("speaker")
        if content:
            role = turn.get("role", "user")
            yield {"role": role, "content": content, "name": name, "timestamp": document.timestamp}

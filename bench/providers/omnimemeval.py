"""The memory server in MemTensor/OmniMemEval, beside the memories compared there.

In the Python environment of the harness `pip install clients/python` of this repository; copy this
file to `scripts/client_factory/memory_server.py`; add to the dict in `registry.py` beside it:

    "memory-server": ("memory_server", "MemoryServer"),

and, for LoCoMo, to `_search_dispatch` in `scripts/locomo/locomo_search.py`:

    "memory-server": generic_text_search,

Then set `MEMORY_URL=http://127.0.0.1:8000`, `MEMORY_KEY` and, for the size of each answer,
`MEMORY_MAX_TOKENS` (default: 2000), and give the harness' scripts `--lib memory-server`. What is
added in a call is a session; user ids are ours; the answer is one in that budget for any `top_k`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from memory_server_client import Client

BATCH, WITHIN_S, CALL_WITHIN_S = 100, 3600.0, 120.0


class MemoryServer:
    """A client of the harness: adds what users said, and searches a user's memory."""

    def add(self, messages: Sequence[Mapping[str, Any]], user_id: str, **options: Any) -> None:
        """Store the messages of a session, once, and wait until they are processed."""
        talk = uuid5(NAMESPACE_URL, json.dumps([user_id, *messages], sort_keys=True, default=str))
        said = [*read_messages(messages)]
        if not said:
            return
        with Client(timeout_s=CALL_WITHIN_S) as memory:
            for start in range(0, len(said), BATCH):
                batch, key = said[start : start + BATCH], f"{talk} {start}"
                memory.add_messages(talk, batch, user_id=user_id, idempotency_key=key)
            memory.wait_for(memory.close_conversation(talk), timeout_s=WITHIN_S)

    def search(self, query: str, user_id: str, top_k: int) -> str:
        """Return what is known of a user, for a prompt."""
        size = int(os.environ.get("MEMORY_MAX_TOKENS", "2000"))
        with Client(timeout_s=CALL_WITHIN_S) as memory:
            options = {"scope": "user", "user_id": user_id, "max_tokens": size}
            return str(memory.retrieve_memory(None, query, **options))


def read_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """Yield messages as they are posted; the harness puts names before the texts, too."""
    for message in messages:
        name, content = message.get("name"), str(message.get("content") or "")
        content = content.removeprefix(f"{name}: ")
        if content.strip():
            row = {"role": message.get("role", "user"), "content": content, "name": name}
            yield {**row, "timestamp": message.get("chat_time")}

"""The memory server behind the three calls that tenurehq/precisionMemBench expects of a memory.

`pip install clients/python` of this repository, set `MEMORY_URL=http://127.0.0.1:8000` and
`MEMORY_KEY` and, for the size of each answer, `MEMORY_MAX_TOKENS` (default: 100); run this file,
which listens on the loopback address, on port 8080 or the one given; add to
`providers.config.json` of the harness

    "memory-server": {"envVar": "MEMORY_SERVER", "defaultUrl": "http://127.0.0.1:8080",
                      "seedDelayMs": 0}

and run it with `MEMORY_PROVIDER=memory-server`. Each belief is a message of its user; a search is
answered with the beliefs that the text of that size quotes, in its order. A reset starts with new
user ids, and erases nothing.
"""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

from memory_server_client import Client

PORT, WITHIN_S = 8080, 600.0


class Beliefs:
    """What the harness has added since the last reset."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.reset()

    def reset(self) -> None:
        """Begin with empty memories."""
        self.run, self.talks, self.waiting = uuid4(), dict[str, Any](), set[str]()

    def add(self, text: str, user_id: str, metadata: dict[str, Any], **_: Any) -> None:
        """Store a belief as what its user said."""
        talk = self.talks.setdefault(user_id, uuid4())
        said = {"role": "user", "content": text, "metadata": {"id": metadata["beliefId"]}}
        self.client.add_messages(talk, [said], user_id=f"{self.run} {user_id}")
        self.waiting.add(user_id)

    def search(self, query: str, user_id: str, limit: int, **_: Any) -> list[dict[str, str]]:
        """Return beliefs by id, the ones that the answer shows first in front."""
        for name in [*self.waiting]:
            job = self.client.close_conversation(self.talks[name])
            self.client.wait_for(job, timeout_s=WITHIN_S)
            self.waiting.remove(name)
        if not query.strip() or user_id not in self.talks:
            return []
        size = int(os.environ.get("MEMORY_MAX_TOKENS", "100"))
        options = {"scope": "user", "user_id": f"{self.run} {user_id}", "max_tokens": size}
        found: dict[str, str] = {}
        for block in self.client.retrieve_memory_raw(None, query, **options)["blocks"]:
            for source in block["sources"]:
                found.setdefault(source["metadata"]["id"], block["text"])
        return [{"id": name, "memory": text} for name, text in found.items()][:limit]


def serve(beliefs: Beliefs, port: int) -> HTTPServer:
    """Return a server that answers the harness."""

    class Calls(BaseHTTPRequestHandler):
        def do_DELETE(self) -> None:
            beliefs.reset()
            self.answer({"ok": True})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/search":
                self.answer({"results": beliefs.search(**body)})
            else:
                beliefs.add(**body)
                self.answer({"ok": True})

        def answer(self, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

    return HTTPServer(("127.0.0.1", port), Calls)


if __name__ == "__main__":
    with Client() as client:
        serve(Beliefs(client), int(sys.argv[1]) if sys.argv[1:] else PORT).serve_forever()

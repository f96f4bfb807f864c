"""A receiver of webhooks on loopback, which answers as it is told and keeps what came."""

from __future__ import annotations

import base64
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Delivery:
    """One POST that arrived."""

    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def is_signed_by(self, secret: str) -> bool:
        """Check as the Standard Webhooks libraries do."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode()
        wanted = base64.b64encode(hmac.digest(key, signed + self.body, "sha256")).decode()
        return f"v1,{wanted}" in self.headers["webhook-signature"].split(" ")


@dataclass
class Receiver:
    """What came, and what is answered: by event type, else 204."""

    url: str = ""
    deliveries: list[Delivery] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)

    def types(self) -> list[str]:
        return [one.json["type"] for one in self.deliveries]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen on a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            delivery = Delivery(headers, body)
            receiver.deliveries.append(delivery)
            self.send_response(receiver.answers.get(delivery.json["type"], 204))
            self.send_header("Location", "http://169.254.169.254/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/memory"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

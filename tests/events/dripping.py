"""A server on loopback that sends a byte at a time, for ever, and so never falls silent."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

EVERY_S = 0.05


@dataclass
class Dripper:
    """Greets, and then sends `drop` again and again; `open` counts who is connected."""

    port: int = 0
    greeting: bytes = b""
    drop: bytes = b"a"
    every_s: float = EVERY_S
    open: list[socket.socket] = field(default_factory=list)
    connections: int = 0

    def drip(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.sendall(self.greeting)
            while True:
                connection.sendall(self.drop)
                time.sleep(self.every_s)
        self.open.remove(connection)

    def is_left_alone(self, within_s: float = 30.0) -> bool:
        """Return whether everybody has hung up, soon at least."""
        until = time.monotonic() + within_s
        while self.open and time.monotonic() < until:
            time.sleep(EVERY_S)
        return not self.open


@contextmanager
def dripping(**how: bytes) -> Iterator[Dripper]:
    """Listen on a free port of this machine until the block ends."""
    dripper = Dripper(**how)  # type: ignore[arg-type]
    with socket.create_server(("127.0.0.1", 0)) as server:
        dripper.port = server.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    dripper.connections += 1
                    dripper.open.append(connection)
                    threading.Thread(target=dripper.drip, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield dripper
        finally:
            server.shutdown(socket.SHUT_RDWR)

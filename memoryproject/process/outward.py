"""A real-time deadline for calls to other servers, which may answer a byte at a time.

Clients' timeouts start again with each byte, and name resolution has none: a slow server would
block a worker forever.
"""

import socket
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


class Line:
    """The connections of one client, which are closed if a call takes too long."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def add(self, connection: socket.socket) -> None:
        """Register a connection; closed ones are dropped."""
        self._sockets = [each for each in self._sockets if each.fileno() >= 0] + [connection]

    def note(self, event: str, info: dict[str, Any]) -> None:
        """Register what an HTTP client opens, as its extension `trace`."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self.add(info["return_value"].get_extra_info("socket"))

    def run(self, work: Callable[[], Result], *, within_s: float) -> Result:
        """Return what `work` returns, or raise what it raises; it must not use the database.

        It runs in its own thread. When its time is over, its connections are shut down, so that the
        thread ends as well.

        Raises:
            TimeoutError: it has not ended in time.
        """
        future: Future[Result] = Future()

        def make() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        Thread(target=copy_context().run, args=(make,), daemon=True).start()
        if not wait([future], within_s).done:
            self.cut()
            raise TimeoutError(f"no end within {within_s:g} s")
        return future.result()

    def cut(self) -> None:
        """Shut all connections down, so that every thread that reads from one sees its end."""
        for connection in self._sockets:
            with suppress(OSError):
                # That of an SSLSocket would first take away what its reader holds.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

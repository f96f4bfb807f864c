"""How connections are held: each request is read whole before a thread takes it.

gunicorn starts and keeps the processes, waitress speaks HTTP in them: one loop reads and
writes all connections of a process, and its threads only see requests that have arrived,
so that slow clients cost a connection and no thread. What takes too long here is let go.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer, create_server

HEAD_BYTES_AT_MOST = 64 * 1024
CONNECTIONS_AT_MOST = 1000
SPARE = 100
"""From that few free connections on, the oldest that send or want nothing whole are closed."""
IDLE_AT_MOST_S = 30
ARRIVES_WITHIN_S = 20.0
BYTES_A_SECOND = 16 * 1024
"""A request may take longer by a second for so many bytes of it that have arrived."""
TICK_S = 0.5


class TimedRequest(HTTPRequestParser):  # type: ignore[misc]
    """A request that arrives, and since when."""

    def __init__(self, adjustments: Any) -> None:
        super().__init__(adjustments)
        self.begun_at = time.monotonic()

    def is_late(self, now: float) -> bool:
        """Return whether it should be here by now."""
        allowed_s = ARRIVES_WITHIN_S + self.body_bytes_received / BYTES_A_SECOND
        return bool(now - self.begun_at > allowed_s)


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection whose requests are timed."""

    parser_class = TimedRequest


class ReadingWorker(Worker):  # type: ignore[misc]
    """A process of gunicorn's that serves by waitress."""

    def run(self) -> None:
        """Serve until told to end; then finish what has arrived."""
        connections: dict[int, Any] = {}
        server = self._make_server(connections)
        next_look = 0.0
        while self.alive and self.ppid == os.getppid():
            self._turn(connections)
            make_room(connections)
            if (now := time.monotonic()) >= next_look:
                close_late(connections, now)
                next_look = now + TICK_S
        for listener in listeners(connections):
            listener.accepting = False
        until = time.monotonic() + self.cfg.graceful_timeout
        while any(map(is_answering, channels(connections))) and time.monotonic() < until:
            self._turn(connections)
        server.task_dispatcher.shutdown(timeout=0.1)
        wasyncore.close_all(connections)

    def _turn(self, connections: dict[int, Any]) -> None:
        """Read and write what can be; tell gunicorn that we live."""
        self.notify()
        wasyncore.loop(timeout=TICK_S, use_poll=True, map=connections, count=1)

    def _make_server(self, connections: dict[int, Any]) -> Any:
        for name, level in (("waitress", logging.WARNING), ("waitress.queue", logging.ERROR)):
            logging.getLogger(name).setLevel(level)
        server = create_server(
            self.wsgi,
            map=connections,
            sockets=[listener.sock for listener in self.sockets],
            threads=self.cfg.threads,
            connection_limit=CONNECTIONS_AT_MOST,
            channel_timeout=IDLE_AT_MOST_S,
            cleanup_interval=5,
            max_request_header_size=HEAD_BYTES_AT_MOST,
            # A file that is imported, and the form around it. The API takes far less.
            max_request_body_size=settings.MAX_UPLOAD_BYTES + settings.MAX_BODY_BYTES,
            recv_bytes=64 * 1024,
            asyncore_use_poll=True,
            log_socket_errors=False,
            ident=None,
            clear_untrusted_proxy_headers=False,  # memoryproject.callers knows which to trust
        )
        for listener in listeners(connections):
            listener.channel_class = Channel
        return server


def listeners(connections: dict[int, Any]) -> list[BaseWSGIServer]:
    """Return the sockets at which clients knock."""
    return [one for one in connections.values() if isinstance(one, BaseWSGIServer)]


def channels(connections: dict[int, Any]) -> list[Channel]:
    """Return the connections of clients, among all that the loop looks after."""
    return [one for one in connections.values() if isinstance(one, Channel)]


def is_answering(channel: Channel) -> bool:
    """Return whether a request is being answered, or the answer still being sent."""
    return bool(channel.requests or channel.total_outbufs_len)


def close_late(connections: dict[int, Any], now: float) -> None:
    """Close what has been arriving for too long."""
    for channel in channels(connections):
        arriving = channel.request
        if arriving is not None and not channel.requests and arriving.is_late(now):
            channel.handle_close()


def make_room(connections: dict[int, Any]) -> None:
    """Close connections where few are left: first what arrives slowly, then what is idle."""
    too_many = len(connections) - (CONNECTIONS_AT_MOST - SPARE)
    if too_many <= 0:
        return
    waiting = [channel for channel in channels(connections) if not is_answering(channel)]
    waiting.sort(key=lambda channel: (channel.request is None, channel.creation_time))
    for channel in waiting[:too_many]:
        channel.handle_close()

"""Processes of `memory-mcp --http`, and how a client with a key speaks to one."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

PATIENCE_S = 120


@contextmanager
def http_server(*options: str) -> Iterator[str]:
    """Run a process that has no key; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: text for name, text in os.environ.items() if name != "MEMORY_KEY"}
    command = ["memory-mcp", "--http", "--port", str(port), *options]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        wait_until_it_answers(url)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def wait_until_it_answers(url: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=30).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("memory-mcp --http did not come up")


@asynccontextmanager
async def speak_http(url: str, key: str) -> AsyncIterator[Any]:
    """Open the transport of a client that sends the key as a bearer."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams

"""A live memory server, named by the environment (see clients/live.py), and ways to reach it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import memory_server_client
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from serving import http_server, speak_http

from memory_mcp.server import make_stdio_server

URL = os.environ["MEMORY_URL"]
Connect = Callable[[str], AbstractAsyncContextManager[Any]]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def mcp_url() -> Iterator[str]:
    """The address of a running `memory-mcp --http`."""
    with http_server() as url:
        yield url


WAYS = [
    "memory auto", "memory legacy", "stdio auto", "stdio legacy", "http auto", "http legacy",
]  # fmt: skip


@pytest.fixture(params=WAYS)
def connect(request: pytest.FixtureRequest, mcp_url: str) -> Connect:
    """Connect a client by each transport, as of today and as older hosts do."""
    transport, mode = request.param.split()

    def make(key: str) -> Any:
        if transport == "memory":
            return Client(make_stdio_server(URL, key), mode=mode)
        if transport == "stdio":
            environment = {"MEMORY_URL": URL, "MEMORY_KEY": key}
            command = StdioServerParameters(command="memory-mcp", env=environment)
            return Client(stdio_client(command), mode=mode)
        return Client(speak_http(mcp_url, key), mode=mode)

    return make


@pytest.fixture
def rest() -> Iterator[memory_server_client.Client]:
    with memory_server_client.Client() as client:
        yield client


@pytest.fixture
def talk() -> str:
    return str(uuid.uuid4())

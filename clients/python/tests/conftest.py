"""A live server, named by the environment: see clients/live.py."""

from __future__ import annotations

import inspect
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from memory_server_client import AsyncClient, Client


class Blocking:
    """The async face, waited for, so that one test asks both."""

    def __init__(self, portal: BlockingPortal, client: AsyncClient) -> None:
        self._portal, self._client = portal, client

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        async def run(*arguments: Any, **options: Any) -> Any:
            made = method(*arguments, **options)
            return await made if inspect.isawaitable(made) else [item async for item in made]

        return lambda *arguments, **options: self._portal.call(lambda: run(*arguments, **options))


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest, portal: BlockingPortal) -> Iterator[Any]:
    """Make a client of one face, then of the other, by the arguments of both."""
    made: list[Any] = []

    def make(*arguments: Any, **options: Any) -> Any:
        if request.param == "sync":
            made.append(Client(*arguments, **options))
        else:
            made.append(Blocking(portal, AsyncClient(*arguments, **options)))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(connect: Any) -> Any:
    """A client with every scope, of both faces in turn."""
    return connect()


@pytest.fixture
def stranger(connect: Any) -> Any:
    return connect(key=os.environ["MEMORY_STRANGER_KEY"])


@pytest.fixture
def talk() -> uuid.UUID:
    return uuid.uuid4()


@pytest.fixture(scope="session")
def schema() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(Path(os.environ["MEMORY_SCHEMA"]).read_text())
    return described

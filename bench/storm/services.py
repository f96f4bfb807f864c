"""The product's processes, kept running as an init system would keep them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.storm.client import HOST, Client
from bench.storm.database import MANAGE, ROOT
from bench.storm.heavy import SLOW_WORD
from bench.storm.options import Options
from bench.storm.parts import Part
from bench.storm.processes import Process, look_up
from bench.storm.roles import ClusterTree, Tree, WebTree
from memoryproject.process.web import web_command

WEB_WORKERS = 2
END_WITHIN_S = 40.0
MODEL_TIMEOUT_S = 2
PATIENT_S = 60
"""With a slow model."""
RESERVE = 1
"""Workers of a cluster beyond MEMORY_WORKERS."""
UNLIMITED = {f"MEMORY_{name}": "0" for name in ("KEY_RATE", "TENANT_RATE", "TENANT_BYTE_RATE")}
HANG_S = 2 * MODEL_TIMEOUT_S + 2.0


class Service:
    """One command that is started again whenever it has ended."""

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        tree: ClusterTree | WebTree,
    ) -> None:
        self.name = name
        self._command = command
        self._environment = dict(environment)
        self.log = log
        self._tree = tree
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start it."""
        with self._lock, self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def restart_if_ended(self) -> None:
        """Start it again where it has ended."""
        with self._lock:
            ended = self._process is not None and self._process.poll() is not None
        if ended:
            self.start()

    def look(self) -> Tree:
        """Return its living processes and what each does."""
        with self._lock:
            process = self._process
        return self._tree.look(process.pid) if process is not None else {}

    def is_whole(self, tree: Tree) -> bool:
        """Return whether nothing is missing in a look at it."""
        return len(tree) >= self._tree.size

    def end(self) -> bool:
        """Tell it to end, kill it if it does not; return whether it did by itself."""
        with self._lock:
            process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return True
        process.terminate()
        try:
            process.wait(timeout=END_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False
        return True


class ModelServer:
    """The failing model server's process."""

    def __init__(self, options: Options, *, environment: Mapping[str, str], log: Path) -> None:
        wishes = [f"--seed={options.seed}", f"--faults={options.faults}", f"--hang-s={HANG_S}"]
        wishes += [f"--slow-word={SLOW_WORD}"] if options.heavy else []
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.storm.model", *wishes],
                cwd=ROOT,
                env=dict(environment),
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        self.url = f"http://{HOST}:{int(self._process.stdout.readline())}/v1"

    @property
    def process(self) -> Process | None:
        """What it runs as."""
        return look_up(self._process.pid)

    def calm(self) -> None:
        """End the faults."""
        urllib.request.urlopen(f"{self.url}/calm", b"{}", timeout=10).close()

    def count(self) -> dict[str, Any]:
        """Return what it did so far."""
        with urllib.request.urlopen(f"{self.url}/counts", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def make_environment(options: Options, data_dir: Path) -> dict[str, str]:
    """Return the environment of every process."""
    ours = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    return ours | {
        "MEMORY_DATA_DIR": str(data_dir),
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "MEMORY_WORKERS": str(options.workers),
        "MEMORY_MODEL_TIMEOUT_S": str(PATIENT_S if options.heavy else MODEL_TIMEOUT_S),
        "MEMORY_WEBHOOK_NETWORKS": "127.0.0.0/8",
        **UNLIMITED,
        "MEMORY_LOG_LEVEL": "INFO",  # the logs tell which cluster was hit
        "PYTHONUNBUFFERED": "1",
    }


FORGOTTEN = frozenset(
    "DATABASE_URL MEMORY_OWNER_DATABASE_URL MEMORY_EMBEDDINGS MEMORY_EMBEDDING_DIM MEMORY_LLM"
    " OPENAI_BASE_URL OPENAI_API_KEY MEMORY_DAILY_BUDGET".split()
)


def name_model(options: Options, server: ModelServer, *, dim: int) -> dict[str, str]:
    """Return the settings that point the product at the model server."""
    settings = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "storm"}
    if options.llm == "on":
        settings |= {"MEMORY_LLM": "openai", "MEMORY_CHAT_MODEL": "storm"}
    if options.embeddings == "remote":
        settings |= {
            "MEMORY_EMBEDDINGS": "openai",
            "MEMORY_EMBEDDING_MODEL": "storm",
            "MEMORY_EMBEDDING_DIM": str(dim),
        }
    return settings


def make_web(environment: Mapping[str, str], *, port: int, logs: Path) -> Service:
    """Return the web server, as `manage.py run` starts it."""
    command = [*web_command(HOST, port), f"--workers={WEB_WORKERS}"]
    tree = WebTree(workers=WEB_WORKERS)
    return Service("web", command, environment=environment, log=logs / "web.log", tree=tree)


def make_workers(
    environment: Mapping[str, str],
    *,
    logs: Path,
    count: int = 1,
    workers: int = 2,
    supervised: bool = True,
) -> list[Service]:
    """Return worker services of so many workers each; not supervised: django-q2's own cluster."""
    return [
        Service(
            f"worker-{number}",
            [*MANAGE, "worker" if supervised else "qcluster"],
            environment=environment,
            log=logs / f"worker-{number}.log",
            tree=ClusterTree(workers=workers + RESERVE, supervised=supervised),
        )
        for number in range(1, count + 1)
    ]


def find_port() -> int:
    """Return a port that is free on the loopback address."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Keeper(Part):
    """Starts again what has ended, until told not to."""

    def __init__(self, services: list[Service]) -> None:
        super().__init__("keeper")
        self._services = services

    def work(self) -> None:
        """Look ten times a second."""
        while not self.enough.wait(0.1):
            for service in self._services:
                service.restart_if_ended()


@contextmanager
def kept(services: list[Service]) -> Iterator[Keeper]:
    """Run the services until the block ends, then end them, whatever happened in it."""
    for service in services:
        service.start()
    keeper = Keeper(services)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.enough.set()
        keeper.join()
        for service in services:
            service.end()


def wait_until_serving(services: list[Service], *, port: int, within_s: float) -> None:
    """Return when the web server is ready and every process is there.

    Raises:
        TimeoutError: that took too long.
    """
    client = Client(port=port)
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if (
            all(service.is_whole(service.look()) for service in services)
            and client.get("health/ready").status == 200
        ):
            client.close()
            return
        time.sleep(0.1)
    raise TimeoutError(f"Web and workers were not ready within {within_s:.0f} s: see the logs.")

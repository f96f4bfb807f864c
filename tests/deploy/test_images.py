"""The images that the Dockerfiles make: small, nobody's root, nothing in them writable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from bench.storm.services import find_port
from memoryproject import embedded
from memoryproject.embedded.binaries import find_binaries
from memoryproject.embedded.bootstrap import connect_as_superuser
from tests.deploy.podman import RUN, build, container, podman
from tests.guards.test_docs import assert_remembers, read_blocks, with_curl
from tests.server import FAST_SETTINGS, throwaway_folder

pytestmark = pytest.mark.images

AT_MOST_BYTES = 450_000_000
DATABASE_BYTES = 45_000_000
STARTS_WITHIN_S = 120
DATABASE_HOST = "127.0.0.77"  # of its own, so that the port is free
PASSWORD = "of-a-test"

LOOK = """
import os, shutil
print(os.getuid(), [path for path in ("/", "/app", "/usr", "/var/tmp") if os.access(path, os.W_OK)],
      [name for name in "cc gcc ld make apt dpkg perl pip curl".split() if shutil.which(name)])
"""


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """A server with the database that deploy/create-database.sh makes; yields its URL."""
    with throwaway_folder() as folder:
        data_dir = folder / "var"
        listening = {**FAST_SETTINGS, "listen_addresses": DATABASE_HOST}
        place = embedded.ensure_started(data_dir, settings=listening, report=lambda line: None)
        try:
            with connect_as_superuser(place, database="postgres") as connection:
                connection.execute("DROP DATABASE memory")
                connection.execute("DROP ROLE memory_app")
            subprocess.run(
                ["sh", str(settings.BASE_DIR / "deploy" / "create-database.sh")],
                env={
                    "PATH": f"{find_binaries().program('psql').parent}:/usr/bin:/bin",
                    "PGHOST": str(place.host),
                    "DATABASE_PASSWORD": PASSWORD,
                },
                check=True,
                timeout=60,
            )
            yield f"postgresql://memory:{PASSWORD}@{DATABASE_HOST}:{place.port}/memory"
        finally:
            embedded.stop(data_dir, mode="immediate")


def wait_for(url: str, process: subprocess.Popen[bytes]) -> float:
    """Return after how many seconds something answers there."""
    started = time.monotonic()
    while time.monotonic() - started < STARTS_WITHIN_S and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return time.monotonic() - started
        except urllib.error.HTTPError as answer:
            answer.close()
            return time.monotonic() - started
        except OSError:
            time.sleep(0.05)
    raise AssertionError("it did not come up")


def run_session(address: str, key: str, folder: Path) -> None:
    """Run the session of the README."""
    (session,) = read_blocks("README.md", "A session", "bash")
    (folder / "var").mkdir()
    (folder / "var" / "api_key").write_text(key)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", session.replace("http://127.0.0.1:8000", address)],
        cwd=folder,
        env={"PATH": with_curl(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_remembers(done.stdout)


def test_the_server_runs_the_session_as_nobody_in_particular(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = build("memory-server", "Dockerfile", ".")
    assert image["Size"] < AT_MOST_BYTES
    secrets = {"DATABASE_URL": database, "MEMORY_SECRET_KEY": "0123456789" * 5 + "of sessions"}
    secrets["MEMORY_KEY_PEPPER"] = "0123456789" * 3 + "of keys"
    (tmp_path / "env").write_text("".join(f"{name}={secrets[name]}\n" for name in secrets))
    ours = [f"--env-file={tmp_path / 'env'}", "memory-server"]
    assert podman(*RUN, *ours, "python", "-c", LOOK) == "10001 [] []"

    podman(*RUN, *ours, "python", "manage.py", "migrate", "--verbosity=0")
    key = podman(*RUN, *ours, "python", "manage.py", "create_api_key", "--tenant", "demo")
    port = find_port()
    address = f"http://127.0.0.1:{port}"
    command = [part.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for part in image["Config"]["Cmd"]]
    probe = [
        part.replace("localhost:8000", f"localhost:{port}")
        for part in image["Healthcheck"]["Test"][1:]
    ]
    with (
        container(*ours, *command, log=tmp_path / "web.log") as web,
        container(*ours, "python", "manage.py", "worker", log=tmp_path / "worker.log"),
    ):
        seconds = wait_for(f"{address}/api/v0/health/live", web)
        podman(*RUN, *ours, *probe)
        run_session(address, key, tmp_path)
    assert web.returncode == 0
    with capsys.disabled():
        sys.stdout.write(f"\n{image['Size'] / 1e6:.0f} MB, answers after {seconds:.1f} s\n")


def test_one_container_runs_it_all_and_its_volume_keeps_what_was_said(tmp_path: Path) -> None:
    image = build("memory-server-all", "Dockerfile", ".", "--target=all-in-one")
    assert image["Size"] < AT_MOST_BYTES + DATABASE_BYTES
    data, port = tmp_path / "data", find_port()
    data.mkdir()
    os.chown(data, 10001, 10001)
    ours = [f"--volume={data}:/data", f"--env=PORT={port}", "memory-server-all"]
    assert podman(*RUN, *ours, "python", "-c", LOOK) == "10001 [] []"
    address = f"http://127.0.0.1:{port}"
    for is_first in (True, False):
        log = tmp_path / f"{is_first}.log"
        with container(*ours, *image["Config"]["Cmd"], log=log) as server:
            wait_for(f"{address}/api/v0/health/live", server)
            while "memory-server login" not in log.read_text() and server.poll() is None:
                time.sleep(0.1)
            if is_first:
                run_session(address, (data / "api_key").read_text(), tmp_path)
        printed, password = log.read_text(), (data / "admin_password").read_text()
        assert server.returncode == 0 and not list(data.glob("**/postmaster.pid")), printed
        login = f"{address}/admin/   user admin, password {password}"
        assert (login in printed) == ("Preparing the demo" in printed) == is_first


def test_the_mcp_server_answers_as_nobody_in_particular(tmp_path: Path) -> None:
    image = build("memory-mcp", "clients/mcp/Dockerfile", "clients")
    assert image["Size"] < AT_MOST_BYTES
    assert podman(*RUN, "memory-mcp", "python", "-c", LOOK).startswith("10001 [] ")
    port = find_port()
    command = [*image["Config"]["Cmd"], f"--port={port}"]
    with container("memory-mcp", *command, log=tmp_path / "log") as server:
        wait_for(f"http://127.0.0.1:{port}/mcp", server)
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/mcp",
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode(),
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=10)
        refused.value.close()
    assert refused.value.code == 401  # it has no key of its own

"""Runs a command beside a server of its own, with an empty database that is gone afterwards.

    .venv/bin/python clients/live.py COMMAND …

The command finds in its environment where the server is and keys for it:

    MEMORY_URL
    MEMORY_KEY           every scope
    MEMORY_READER_KEY    read, of the same tenant
    MEMORY_WRITER_KEY    ingest, of the same tenant
    MEMORY_STRANGER_KEY  every scope, of another tenant
    MEMORY_SLOW_KEY      every scope, of the same tenant, with 60 calls a minute, 10 at once
    MEMORY_SCHEMA        a file: the API's description
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.storm.services import find_port
from memoryproject.process.web import web_command
from tests.template import migrated_server

PATIENCE_S = 300.0
HOST = "127.0.0.1"
KEYS = {
    "MEMORY_KEY": ("clients", ()),
    "MEMORY_READER_KEY": ("clients", ("read",)),
    "MEMORY_WRITER_KEY": ("clients", ("ingest",)),
    "MEMORY_STRANGER_KEY": ("strangers", ()),
    "MEMORY_SLOW_KEY": ("clients", ()),
}


def main(command: list[str]) -> int:
    """Return what the command ended with."""
    with migrated_server() as data_dir:
        os.environ |= {"MEMORY_DATA_DIR": str(data_dir), "MEMORY_LOG_LEVEL": "ERROR"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
        environment = make_keys(data_dir.parent)
        port = find_port()
        worker = [sys.executable, str(ROOT / "manage.py"), "worker"]
        with process(web_command(HOST, port)), process(worker):
            environment["MEMORY_URL"] = f"http://{HOST}:{port}"
            wait_until_ready(environment["MEMORY_URL"])
            done = subprocess.run(command, env={**os.environ, **environment}, check=False)
    return done.returncode


def make_keys(folder: Path) -> dict[str, str]:
    """Create the keys and write the description; return what the environment gets."""
    import django

    django.setup()
    from django.core.management import call_command

    from memoryproject.tenancy import limits, services
    from memoryproject.tenancy.walls import across_tenants

    secrets = {"MEMORY_SCHEMA": str(folder / "schema.json")}
    with across_tenants():
        for variable, (tenant, scopes) in KEYS.items():
            owner = services.get_or_create_tenant(name=tenant)
            made = services.create_api_key(tenant=owner, name=variable, scopes=scopes)
            secrets[variable] = made.secret
            if variable == "MEMORY_SLOW_KEY":
                limits.set_rate(made.key, 60)
    call_command("spectacular", format="openapi-json", file=secrets["MEMORY_SCHEMA"])
    return secrets


@contextmanager
def process(command: list[str]) -> Iterator[None]:
    """Run a process of the product until the block ends."""
    child = subprocess.Popen(command, cwd=ROOT)
    try:
        yield
    finally:
        child.terminate()
        child.wait(timeout=PATIENCE_S)


def wait_until_ready(url: str) -> None:
    """Return when the server answers."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{url}/api/v0/health/live", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError("the server did not come up")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make run` listens at once and shows its demo, whatever the language model does."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from django.conf import settings

from bench.storm.processes import find_children, look_up, read_command
from bench.storm.services import find_port
from memoryproject import embedded
from tests.model_server import Reply, run_model_server, says
from tests.reliability.client import Caller
from tests.reliability.product import MANAGE, Product, end, web
from wings.operations.management.commands.login import QUESTION
from wings.operations.management.commands.seed_demo import DEMO, TENANT
from wings.transfer.loading import read_conversations

pytestmark = pytest.mark.gate
LISTENS_WITHIN_S, SHOWS_WITHIN_S = 180.0, 300.0


def wait_until(port: int, key: str, *, call: str, since: float, within_s: float) -> None:
    while time.monotonic() - since < within_s:
        try:
            if Caller(port, key).get(call).status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{call} did not come up")


def assert_demo_answers(port: int, product: Product) -> None:
    key = (product.data_dir / "api_key").read_text(encoding="utf-8")
    (demo,) = read_conversations(DEMO)
    ask = {"conversation_id": str(demo.external_id), "query": QUESTION}
    answer = Caller(port, key).post("retrieve_memory/raw", ask).json()
    assert answer["semantic"] and answer["episodic"]


@contextmanager
def run(product: Product) -> Iterator[subprocess.Popen[str]]:
    """Do as `make run` does until the block ends."""
    with subprocess.Popen(
        [*MANAGE, "run"],
        env=product.around(),
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            end(process)


def read_until(words: str, process: subprocess.Popen[str], *, since: float) -> None:
    assert process.stdout is not None
    printed = ""
    while words not in printed:
        assert time.monotonic() - since < SHOWS_WITHIN_S and process.poll() is None, printed
        printed += process.stdout.readline()


def test_work_that_was_left_behind_keeps_no_server_from_starting(product: Product) -> None:
    """Nothing is ready as long as work stands still, and it is the worker that moves it."""
    talk = {"conversation_id": str(uuid.uuid4())}
    with web(product.around()) as port:
        caller = product.caller(port)
        message = {"role": "user", "content": "I moved to Porto."}
        assert caller.post("add_message", {**talk, "message": message}).status == 201
        job = caller.post("flush", talk).json()["job_id"]
    product.query(
        "UPDATE jobs_job SET run_after = now() - interval '1 hour',"
        " created_at = now() - interval '1 hour' RETURNING id"
    )
    port = find_port()
    product.environment = {"PORT": str(port), "MEMORY_LOG_FORMAT": "text"}
    with run(product) as process:
        started = time.monotonic()
        read_until("Ready.", process, since=started)
        root = look_up(process.pid)
        assert root and all(
            read_command(one) == read_command(root) for one in find_children(root)
        ), "web and workers are forked from the process that has loaded everything"
        caller = product.caller(port)
        while caller.get(f"jobs/{job}").json()["state"] != "done":
            assert time.monotonic() - started < SHOWS_WITHIN_S
            time.sleep(0.2)


def test_the_demo_needs_no_model_and_nobody_waits_for_one(product: Product) -> None:
    """The database is there already: on a busy machine that alone takes half a minute."""
    port = find_port()
    with run_model_server() as model:
        model.always("plain", says("Hi"))  # whether it is there is looked at once
        for purpose in ("segment", "consolidate", "review"):
            model.always(purpose, Reply(hang_s=120))
        product.environment = {
            "PORT": str(port),
            "MEMORY_LOG_FORMAT": "text",
            "MEMORY_LLM": "openai",
            "OPENAI_BASE_URL": model.url,
        }
        started = time.monotonic()
        with run(product) as process:
            wait_until(port, "", call="health/live", since=started, within_s=LISTENS_WITHIN_S)
            read_until("user admin, password", process, since=started)
            assert_demo_answers(port, product)
            assert {asked.purpose for asked in model.asked} <= {"plain"}
    engines = product.query(
        "SELECT DISTINCT engine, degraded FROM episodic_episode e JOIN tenancy_tenant t"
        f" ON t.id = e.tenant_id WHERE t.name = '{TENANT}'"
    )
    assert engines == [("offline", False)]


def test_an_owner_that_may_not_make_the_serving_role_is_told_so_in_one_sentence(
    product: Product,
) -> None:
    with product.connect() as superuser:
        superuser.execute("DROP OWNED BY memory_app CASCADE")
        superuser.execute("ALTER ROLE memory_app RENAME TO somebody")
        superuser.execute("CREATE ROLE poor LOGIN")
        superuser.execute("CREATE DATABASE bare OWNER poor")
    place = embedded.locate(product.data_dir).address
    url = f"postgresql://poor@{quote(str(place.host), safe='')}:{place.port}/bare"
    done = subprocess.run(
        [*MANAGE, "migrate"],
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: role memory_app is missing: as a superuser run "
        'CREATE ROLE memory_app; GRANT memory_app TO "poor"\n'
    )

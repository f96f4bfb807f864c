"""`make run` listens at once and shows its demo, whatever the language model does."""

from __future__ import annotations

import subprocess
import time

import pytest
from django.conf import settings

from bench.storm.services import find_port
from episodic.loading import read_conversations
from operations.management.commands.login import QUESTION
from operations.management.commands.seed_demo import DEMO, TENANT
from tests.model_server import Reply, run_model_server
from tests.reliability.client import Caller
from tests.reliability.product import MANAGE, Product, end

pytestmark = pytest.mark.gate
LISTENS_WITHIN_S, SHOWS_WITHIN_S = 30.0, 60.0


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


def test_the_demo_needs_no_model_and_nobody_waits_for_one(product: Product) -> None:
    """The database is there already: on a busy machine that alone takes half a minute."""
    port = find_port()
    with run_model_server() as model:
        for purpose in ("segment", "consolidate", "review"):
            model.always(purpose, Reply(hang_s=120))
        product.environment = {
            "PORT": str(port),
            "MEMORY_LOG_FORMAT": "text",
            "MEMORY_LLM": "openai",
            "OPENAI_BASE_URL": model.url,
        }
        started = time.monotonic()
        with subprocess.Popen(
            [*MANAGE, "run"],
            env=product.around(),
            cwd=settings.BASE_DIR,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                wait_until(port, "", call="health/live", since=started, within_s=LISTENS_WITHIN_S)
                assert process.stdout is not None
                printed = ""
                while "user admin, password" not in printed:
                    assert time.monotonic() - started < SHOWS_WITHIN_S
                    printed += process.stdout.readline()
                assert_demo_answers(port, product)
                assert not model.asked
            finally:
                end(process)
    engines = product.query(
        "SELECT DISTINCT engine, degraded FROM episodic_episode e JOIN tenancy_tenant t"
        f" ON t.id = e.tenant_id WHERE t.name = '{TENANT}'"
    )
    assert engines == [("offline", False)]

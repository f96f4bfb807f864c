"""Behind PgBouncer in transaction mode every answer is right, whoever had the connection last."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.reliability.client import Caller
from tests.reliability.conftest import SayFigures
from tests.reliability.pooler import pooler
from tests.reliability.product import Product, web, workers
from tests.reliability.test_degradation import wait_for

pytestmark = pytest.mark.bench

CLIENTS = 8
SERVERS = 3
DONE = "SELECT FROM jobs_job WHERE state = 'done' LIMIT 1"


class Agent:
    """One of four clients that share a conversation of a tenant; counts what is wrong."""

    def __init__(self, caller: Caller, own: str, other: str, home: uuid.UUID) -> None:
        self.caller, self.own, self.other, self.home = caller, own, other, home
        self.asked: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()

    def ask_until(self, end: float) -> None:
        """Post, list, search, retrieve and count, over and over."""
        while time.monotonic() < end:
            self.ask("write", "notes", {"content": f"secret-{self.own}: tea"}, expected=201)
            message = {"role": "user", "content": f"secret-{self.own} I like tea and marathons"}
            body = {"conversation_id": str(self.home)}
            self.ask("post", "add_message", {**body, "message": message}, expected=201)
            self.ask("list", f"messages?conversation_id={self.home}&limit=200")
            self.ask("search", "search", {"query": "*"})
            self.ask("retrieve", "retrieve_memory", {**body, "query": "tea"})
            self.ask("notes", "notes?limit=50")

    def ask(self, name: str, call: str, body: object = None, *, expected: int = 200) -> None:
        """Count an answer as wrong that fails, tells of the other, or lacks what was posted."""
        answer = self.caller.post(call, body) if body else self.caller.get(call)
        self.asked[name] += 1
        if answer.status != expected:
            self.wrong[f"{name} {answer.status}"] += 1
        if f"secret-{self.other}".encode() in answer.content:
            self.wrong[f"{name} leaked"] += 1
        if name in {"list", "notes", "search"} and f"secret-{self.own}" not in str(answer.content):
            self.wrong[f"{name} empty"] += 1


@pytest.mark.parametrize(("login", "seconds"), [("memory_owner", 15), ("memory_app", 8)])
def test_eight_clients_of_two_tenants_get_no_wrong_answer(
    product: Product, folder: Path, say_figures: SayFigures, login: str, seconds: int
) -> None:
    keys = [product.key, product.manage("create_api_key", "--tenant", "bo's")]
    owner = "postgresql://memory_owner@/memory?host={0.host}&port={0.port}".format(product.start())
    with pooler(product, folder, servers=SERVERS) as port:
        url = f"postgresql://{login}@127.0.0.1:{port}/memory"
        product.environment |= {"DATABASE_URL": url, "MEMORY_KEY_RATE": "0"}
        product.environment |= {"MEMORY_OWNER_DATABASE_URL": owner, "MEMORY_TENANT_RATE": "0"}
        product.manage("check", "--database", "default")
        with web(product.around()) as web_port, workers(product.around()):
            callers = [Caller(web_port, key) for key in keys]
            homes = [uuid.uuid4(), uuid.uuid4()]
            names = ["ana", "bo"]
            agents = [
                Agent(callers[i % 2], names[i % 2], names[1 - i % 2], homes[i % 2])
                for i in range(CLIENTS)
            ]
            end = time.monotonic() + seconds
            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(lambda agent: agent.ask_until(end), agents))
            assert callers[0].get("health/ready").status == 200
            wait_for(lambda: product.query(DONE) != [], within_s=180)
    asked = sum((agent.asked for agent in agents), Counter[str]())
    say_figures(f"behind PgBouncer as {login}: {dict(asked)}, none of them wrong")
    assert sum((agent.wrong for agent in agents), Counter[str]()) == {}
    assert product.query("SELECT count(*) FROM jobs_job WHERE state = 'dead'")[0][0] == 0

"""What happens in a product's life: migrations while it works, and a new secret."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.reliability.client import Caller
from tests.reliability.product import Product, web, workers
from tests.reliability.test_degradation import wait_for
from tests.talk import whole_talk

pytestmark = pytest.mark.gate

OPEN_JOBS = "SELECT count(*) FROM jobs_job WHERE state <> 'done'"


def is_quiet(product: Product) -> bool:
    return bool(product.query(OPEN_JOBS)[0][0] == 0)


@dataclass
class Writer(threading.Thread):
    """Posts to conversations in turn until told to stop; sends again what was not taken."""

    caller: Caller
    talks: list[uuid.UUID] = field(default_factory=lambda: [uuid.uuid4() for _ in range(4)])
    sent: int = 0
    statuses: set[int] = field(default_factory=set)
    failure: str = ""

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.enough = threading.Event()

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        while not self.enough.wait(0.1) and not self.failure:
            talk = {"conversation_id": str(self.talks[self.sent % len(self.talks)])}
            key = str(self.sent)
            self._post("add_messages", {**talk, "messages": whole_talk()}, key)
            self._post("flush", talk, key)
            self.sent += 1

    def go_on(self) -> None:
        """Wait until more was sent."""
        before = self.sent
        wait_for(lambda: self.sent > before + 5 or bool(self.failure))

    def _post(self, call: str, body: Mapping[str, object], key: str) -> None:
        for _ in range(600):
            answer = self.caller.post(call, body, Idempotency_Key=key)
            self.statuses.add(answer.status)
            if answer.status in {200, 201, 202}:
                return
            if answer.status != 503:
                self.failure = f"{call}: {answer.status} {answer.content[:200]!r}"
                return
            time.sleep(0.1)
        self.failure = f"{call} is not taken"


@contextmanager
def writing(caller: Caller) -> Iterator[Writer]:
    writer = Writer(caller)
    writer.start()
    try:
        yield writer
    finally:
        writer.enough.set()
        writer.join()


def test_migrations_run_while_work_is_done(product: Product) -> None:
    """Workers go on where a column that they use is not there yet."""
    with web(product.around()) as port, workers(product.around()):
        with writing(product.caller(port)) as writer:
            wait_for(lambda: product.query("SELECT 1 FROM episodic_episode LIMIT 1") != [])
            for _ in range(2):
                product.make_older()
                time.sleep(3)
                product.make_newer()
                writer.go_on()
        assert not writer.failure, writer.failure
        assert writer.statuses <= {201, 202, 200, 503} and writer.sent > 10
        # What failed meanwhile waits, for some minutes at most.
        product.query("UPDATE jobs_job SET run_after = now() WHERE state = 'ready' RETURNING 1")
        wait_for(lambda: is_quiet(product), within_s=600)
    lost = "SELECT count(*), count(episode_id), count(quarantined_by_id) FROM episodic_message"
    count = writer.sent * len(whole_talk())
    assert product.query(lost) == [(count, count, 0)]
    assert product.query("SELECT count(*) FROM episodic_episode WHERE consolidated_at IS NULL") == [
        (0,)
    ]
    assert (
        product.query(
            "SELECT conversation_id FROM episodic_message GROUP BY 1 HAVING max(seq) <> count(*)"
        )
        == []
    )


SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
browser = Client()
browser.force_login(User.objects.create_superuser("auditor"))
print(browser.session.session_key)
"""


def test_a_new_secret_key_costs_sessions_and_no_work(product: Product) -> None:
    """The queue deletes what the old one signed; the reconciler wakes what was not done."""
    talk = {"conversation_id": str(uuid.uuid4())}
    cookie = {"Cookie": f"sessionid={product.manage('shell', '-v0', '-c', SIGN_IN)}"}
    with web(product.around()) as port:
        caller = product.caller(port)
        assert caller.post("add_messages", {**talk, "messages": whole_talk()}).status == 201
        job = caller.post("flush", talk).json()["job_id"]
        assert caller.ask("GET", "/admin/", None, **cookie).status == 200
    assert product.query("SELECT count(*) FROM django_q_ormq")[0][0] > 0
    product.environment["MEMORY_SECRET_KEY"] = "another secret, as long as it should be, or longer"
    with web(product.around()) as port:
        caller = product.caller(port)
        assert caller.ask("GET", "/admin/", None, **cookie).status == 302
        assert caller.get(f"jobs/{job}").json()["state"] == "ready"
        with workers(product.around()):
            wait_for(lambda: is_quiet(product), within_s=300)
        assert caller.get(f"jobs/{job}").json()["state"] == "done"
        state = caller.get(f"conversations/{talk['conversation_id']}").json()
        assert (state["messages"], state["pending"], state["set_aside"]) == (16, 0, 0)

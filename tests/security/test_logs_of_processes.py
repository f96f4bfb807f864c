"""Web server, workers and PostgreSQL write lines of theirs, and no word of what was said.

Real processes at the level DEBUG, while the model errs, the database refuses rows, takes
too long and goes away, and a worker is killed in the middle of its work.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.storm.services import find_port
from memoryproject import embedded
from memoryproject.process.web import web_command
from tests.model_server import Asked, ModelServer, Reply, run_model_server, says, sends
from tests.reliability.client import HOST, Caller
from tests.reliability.product import MANAGE, Product, end
from tests.security.canaries import CANARY, SENTENCE, Sent, all_requests

pytestmark = pytest.mark.gate
PATIENCE_S = 180


@contextmanager
def process(
    command: list[str], environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process whose output goes to a file, until the block ends."""
    with log.open("ab") as file:
        started = subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        try:
            yield started
        finally:
            end(started)


def wait_for(condition: Callable[[], Any], *, what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.2)


def answers(port: int) -> bool:
    try:
        return Caller(port, "none").get("health/live").status == 200
    except OSError:
        return False


def send(caller: Caller, sent: Sent) -> int:
    named = {name: value for name, value in sent.headers.items() if name != "Authorization"}
    body = sent.body.encode().decode("latin-1") if sent.body else None
    return caller.ask(sent.method, sent.path, body, **{"Content-Type": sent.kind, **named}).status


def say(caller: Caller, conversation: str, count: int, text: str = SENTENCE) -> None:
    said = [{"role": "user", "content": f"{text} {number}"} for number in range(count)]
    caller.post("add_messages", {"conversation_id": conversation, "messages": said})
    caller.post("flush", {"conversation_id": conversation})


def jobs(product: Product, condition: str) -> int:
    return int(product.query(f"SELECT count(*) FROM jobs_job WHERE {condition}")[0][0])


def err_in_turn(model: ModelServer) -> None:
    """Answer with what quotes, in every way in turn."""
    turn = itertools.count()
    useless = [
        lambda quoted: says(quoted),
        lambda quoted: says({"episodes": quoted, CANARY: [quoted]}),
        lambda quoted: sends({"error": {"message": quoted}}, status=400),
    ]
    # Few enough that the breaker stays closed, and work goes on.
    away = [
        lambda quoted: sends({"error": {"message": quoted}}, status=500),
        lambda quoted: Reply(body=quoted.encode()),
    ]
    replies = [*useless, away[0], *useless, away[1]]

    def reply(asked: Asked) -> Reply:
        return replies[next(turn) % len(replies)](f"{SENTENCE} {asked.body}"[:5000])

    for purpose in ("segment", "consolidate", "review", "plain"):
        model.always(purpose, reply)


def refuse_rows(product: Product) -> None:
    """Let the database refuse facts and notes that hold a word of their own."""
    with product.connect() as owner:
        for table, column in (("semantic_fact", "fact"), ("notes_note", "content")):
            owner.execute(
                f"ALTER TABLE {table} ADD CONSTRAINT no_poison"
                f" CHECK (lower({column}) NOT LIKE '%poison%') NOT VALID".encode()
            )


def test_no_process_writes_what_was_said(product: Product, tmp_path: Path) -> None:
    logs = {name: tmp_path / f"{name}.log" for name in ("web", "worker")}
    port = find_port()
    with run_model_server() as model:
        err_in_turn(model)
        environment = {
            **product.around(),
            "MEMORY_LOG_LEVEL": "DEBUG",
            "MEMORY_LOG_FORMAT": "json",
            "MEMORY_WORKERS": "1",
            "MEMORY_LLM": "openai",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": f"sk-{CANARY}",
            "MEMORY_CHAT_MODEL": "scripted",
            "MEMORY_MODEL_TIMEOUT_S": "5",
            "MEMORY_MIRROR_DIR": str(tmp_path / "mirror"),
        }
        web = [*web_command(HOST, port), "--log-level=debug"]
        with process(web, environment, logs["web"]):
            wait_for(lambda: answers(port), what="the web server does not come up")
            caller = product.caller(port)
            work(product, caller, environment, logs["worker"])
            go_wrong(product, caller)
    assert_silent(product, logs)


def work(product: Product, caller: Caller, environment: dict[str, str], log: Path) -> None:
    """Send everything, and let a worker work on it, be killed, and go on."""
    described = caller.get("schema/?format=json").json()
    refuse_rows(product)
    for sent in all_requests(described):
        send(caller, sent)
    caller.post("notes", {"content": f"poison {SENTENCE}"})
    say(caller, str(uuid.uuid4()), 8)
    say(caller, str(uuid.uuid4()), 8, f"I moved to poison {CANARY} street")
    with process([*MANAGE, "worker"], environment, log) as supervisor:
        wait_for(lambda: jobs(product, "state = 'running'"), what="no job runs")
        kill_one_of(supervisor.pid)
        wait_for(lambda: "ended suddenly" in log.read_text(), what="the supervisor sees no death")
    with process([*MANAGE, "worker"], environment, log):
        wait_for(lambda: jobs(product, "state = 'done'") > 2, what="no job is done")
        wait_for(lambda: jobs(product, "error_class <> ''"), what="no job fails")


def kill_one_of(pid: int) -> None:
    """Kill the newest process below the supervisor, as a system does that lacks memory."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    parents = {int(a): int(b) for a, b in (line.split() for line in listed if line.strip())}
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    os.kill(max(family), signal.SIGKILL)


def go_wrong(product: Product, caller: Caller) -> None:
    """Let statements take too long, and the database go away, while calls come."""
    body = {"conversation_id": str(uuid.uuid4()), "query": SENTENCE}
    with product.connect() as owner:
        owner.execute(f"ALTER ROLE {embedded.APP_ROLE} SET statement_timeout = '1ms'".encode())
        owner.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memory_app'"
        )
    for call in ("retrieve_memory", "search", "add_message"):
        message = {"role": "user", "content": SENTENCE}
        caller.post(call, {**body, "message": message})
    product.stop()
    assert caller.post("retrieve_memory", body).status == 503
    caller.ask(CANARY.upper(), f"/api/v0/{CANARY}")
    caller.ask("GET", f"/{CANARY}?{CANARY}", None, Cookie=f"sessionid={CANARY}")


def assert_silent(product: Product, logs: dict[str, Path]) -> None:
    written = {name: log.read_text(encoding="utf-8") for name, log in logs.items()}
    written["PostgreSQL"] = embedded.locate(product.data_dir).log.read_text(errors="replace")
    product.start()
    for table in ("jobs_job", "django_q_ormq", "django_q_task", "django_q_schedule"):
        written[table] = str(product.query(f"SELECT t::text FROM {table} t"))
    for name, text in written.items():
        found = text.lower().find(CANARY)
        assert found < 0, f"{name}: {text[max(0, found - 500) : found + 200]}"
    lines = [json.loads(line) for name in logs for line in written[name].splitlines()]
    events = {line["event"] for line in lines}
    raised = {line["exception"] for line in lines if "exception" in line}
    assert {"request", "job failed", "database away"} <= events, events
    assert any("IntegrityError" in one for one in raised), raised
    assert any("OperationalError" in one for one in raised), raised
    assert any("workers ended suddenly" in event for event in events), events
    stored = product.query("SELECT count(*) FROM episodic_message WHERE content LIKE '%quokka%'")
    assert stored[0][0] > 10, "it was said"

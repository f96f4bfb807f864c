"""A backup holds everything, also what is still to be done: docs/operating.md says how."""

from __future__ import annotations

import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from memoryproject import embedded
from tests.reliability.client import Caller
from tests.reliability.product import Product, web
from tests.talk import MORNING, MOVING, messages, whole_talk

pytestmark = pytest.mark.gate

SECRETS = ("secret_key", "key_pepper")
TALK = {"conversation_id": str(uuid.UUID(int=7))}


def run_embedded(*arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memoryproject.embedded", *map(str, arguments)],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def count_rows(product: Product) -> dict[str, int]:
    tables = product.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {table: product.query(f'SELECT count(*) FROM "{table}"')[0][0] for (table,) in tables}


def remember(caller: Caller) -> None:
    assert caller.post("add_messages", {**TALK, "messages": whole_talk()}).status == 201
    assert caller.post("flush", TALK).status == 202


def leave_work(caller: Caller) -> None:
    """Post what nobody works on yet: in the same conversation and in another."""
    assert (
        caller.post("add_messages", {**TALK, "messages": messages(MOVING, MORNING)}).status == 201
    )
    assert caller.post("flush", TALK).status == 202
    other = {"conversation_id": str(uuid.uuid4())}
    assert caller.post("add_messages", {**other, "messages": whole_talk() * 2}).status == 201


def answers(caller: Caller) -> list[Any]:
    """Return what is served, ids and texts; scores move with the time since."""
    served: list[Any] = []
    for query in ("Where is Mira moving?", "marathon", "forty boxes of books"):
        found = caller.post("retrieve_memory/raw", {**TALK, "query": query})
        assert found.status == 200
        body = found.json()
        served.append([(hit["id"], hit.get("fact")) for hit in body["semantic"]])
        served.append([(hit["id"], hit.get("title")) for hit in body["episodic"]])
        served.append(caller.post("retrieve_memory", {**TALK, "query": query}).content)
    assert any(served)
    return served


def test_a_backup_brings_everything_back_and_the_work_goes_on(
    product: Product, folder: Path
) -> None:
    with web(product.around()) as port:
        caller = product.caller(port)
        remember(caller)
        product.manage("drain_jobs")
        leave_work(caller)
        before = answers(caller)
        run_embedded("pg_dump", product.data_dir, "-Fc", "-f", folder / "memory.dump")
        kept = count_rows(product)
    product.stop()
    copy = Product(folder / "elsewhere", key=product.key)
    embedded.make_data_dir(copy.data_dir)
    for secret in SECRETS:
        shutil.copy(product.data_dir / secret, copy.data_dir / secret)
    try:
        run_embedded("pg_restore", copy.data_dir, "--exit-on-error", folder / "memory.dump")
        assert count_rows(copy) == kept
        assert kept["jobs_job"] > 2 and kept["django_q_ormq"] > 0
        copy.manage("migrate", "--check")
        check_life(copy, before)
    finally:
        copy.stop()


def check_life(copy: Product, before: list[Any]) -> None:
    """Check that the old key opens it, that it answers as before, and that work gets done."""
    with web(copy.around()) as port:
        caller = copy.caller(port)
        assert answers(caller) == before
        ready = "SELECT count(*) FROM jobs_job WHERE state = 'ready'"
        assert copy.query(ready)[0][0] >= 2
        copy.manage("drain_jobs")
        assert copy.query("SELECT DISTINCT state FROM jobs_job") == [("done",)]
        state = caller.get(f"conversations/{TALK['conversation_id']}").json()
        assert (state["messages"], state["pending"], state["set_aside"]) == (24, 0, 0)
        assert caller.post("add_message", {**TALK, "message": whole_talk()[0]}).json()["seq"] == 25


def test_operating_names_the_commands_that_this_test_runs() -> None:
    page = (settings.BASE_DIR / "docs" / "operating.md").read_text()
    for said in ("embedded pg_dump var -Fc", "embedded pg_restore", *SECRETS):
        assert said in page

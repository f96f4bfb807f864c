"""What was erased is in no table, no file and no log; what was not erased is as it was."""

from __future__ import annotations

import logging
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from jobs.draining import drain_jobs
from memoryproject.tenancy.walls import across_tenants
from tests.conftest import Agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.erasure.lives import (
    CANARY,
    USER,
    as_json,
    digest,
    dump,
    erase,
    queued,
    tell_everywhere,
    write_canary,
)
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.talk import whole_talk
from wings.erasure.models import Erasure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Mirror into a folder of the test's own."""
    settings.MIRROR_DIR = tmp_path / "mirror"
    return tmp_path / "mirror"


def mentions(folder: Path) -> int:
    """Return how many files of a folder hold the canary, in their text or in their name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    needle = CANARY.lower()
    return sum(needle in (path.read_text() + path.name).lower() for path in files)


def logs_of_postgres() -> str:
    """Return what the database server has written down, in lower case."""
    files = [path for path in settings.DATA_DIR.rglob("*.log") if path.is_file()]
    assert files
    return "".join(path.read_text(errors="replace") for path in files).lower()


def test_an_erased_conversation_is_nowhere(
    ana: Agent,
    cleo: Agent,
    conversation: uuid.UUID,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    quiet = uuid.uuid4()
    for agent in (ana, cleo):
        body = {"conversation_id": str(quiet), "messages": whole_talk()}
        assert agent.post("add_messages", body).status_code == 201
        agent.flush(quiet)
    tell_everywhere(ana, conversation)
    assert CANARY.lower() not in queued()
    drain_jobs()
    assert CANARY.lower() in dump()
    assert mentions(folder)
    others = digest(ana.tenant, conversation=quiet), digest(cleo.tenant)
    foretold = as_json(erase(ana, "conversation", conversation, dry_run=True))
    done = as_json(erase(ana, "conversation", conversation))
    assert done["state"] == "done"
    assert done["counts"] == foretold["counts"]
    assert done["counts"]["messages"] == len(whole_talk()) + 3
    assert not mentions(folder)
    drain_jobs()
    assert not mentions(folder)
    assert CANARY.lower() not in dump()
    assert CANARY.lower() not in queued() + caplog.text.lower() + logs_of_postgres()
    assert done["counts"]["import_rows"] == 1
    assert (digest(ana.tenant, conversation=quiet), digest(cleo.tenant)) == others


def test_an_erased_message_is_nowhere_and_the_others_are_learnt_anew(
    ana: Agent, conversation: uuid.UUID, folder: Path
) -> None:
    said = whole_talk()
    said[4]["content"] = f"Yes, I moved to the ship {CANARY} in Rotterdam last week."
    said[4]["metadata"] = {CANARY: 1}
    said[4]["name"] = f"Mira {CANARY}"
    body = {"conversation_id": str(conversation), "messages": said}
    posted = ana.post("add_messages", body).json()
    ana.flush(conversation)
    query = {"conversation_id": str(conversation), "query": said[4]["content"]}
    assert ana.post("retrieve_memory", query).status_code == 200
    drain_jobs()
    assert CANARY.lower() in dump()
    message = posted["messages"][4]["message_id"]
    foretold = as_json(erase(ana, "message", message, dry_run=True))
    done = as_json(erase(ana, "message", message))
    assert done["counts"] == foretold["counts"]
    assert done["counts"]["messages"] == 1
    assert done["counts"]["episodes"] == 1
    assert not mentions(folder)
    assert CANARY.lower() not in dump()
    drain_jobs()
    assert CANARY.lower() not in dump()
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["messages"], state["pending"]) == (len(said) - 1, 0)
    asked = {**query, "query": "Who helps with the boxes and the piano?"}
    assert "van" in ana.post("retrieve_memory", {**asked, "detail": "high"}).content.decode()
    listed = ana.get("messages", conversation_id=str(conversation)).json()["items"]
    assert [row["seq"] for row in listed] == [1, 2, 3, 4, *range(6, len(said) + 1)]


@pytest.mark.parametrize("scope", ["message", "conversation"])
def test_an_erased_speaker_is_not_named_by_what_had_withheld_him(
    ana: Agent, conversation: uuid.UUID, scope: str
) -> None:
    said = whole_talk()
    said[4]["name"] = CANARY
    body = {"conversation_id": str(conversation), "messages": said}
    message = ana.post("add_messages", body).json()["messages"][4]["message_id"]
    ana.flush(conversation)
    source = {"since": "2020-01-01T00:00:00Z", "speaker": CANARY, "reason": "He lies."}
    assert ana.post("rollbacks", source).status_code == 201
    drain_jobs()
    assert CANARY.lower() in dump()
    assert erase(ana, scope, message if scope == "message" else conversation).status_code == 200
    drain_jobs()
    (left,) = ana.get("rollbacks").json()["items"]
    assert (left["speaker"], left["reason"]) == (None, "erased")
    assert CANARY.lower() not in dump()


@pytest.mark.parametrize("scope", ["note", "user"])
def test_erased_notes_are_nowhere(ana: Agent, folder: Path, scope: str) -> None:
    note = write_canary(ana)
    drain_jobs()
    assert ana.post("search", {"query": CANARY}).json()["items"]
    assert mentions(folder)
    name = note if scope == "note" else USER
    foretold = as_json(erase(ana, scope, name, dry_run=True))
    done = as_json(erase(ana, scope, name))
    assert done["counts"] == foretold["counts"]
    assert (done["counts"]["notes"], done["counts"]["note_versions"]) == (1, 1)
    drain_jobs()
    assert not mentions(folder)
    assert CANARY.lower() not in dump()


def test_why_a_person_deleted_an_erased_note_is_not_told_any_more(ana: Agent) -> None:
    notes = [ana.post("notes", {"content": text}).json()["id"] for text in ("One.", "Two.")]
    curator = visit_as(SUPERUSER)
    for note in notes:
        why = {"delete-reason": f"It is about: {CANARY} {note}."}
        assert curator.post(reverse("console:note_delete", args=[note]), why).status_code == 302
    assert erase(ana, "note", notes[0]).status_code == 200
    told = LogEntry.objects.order_by("id").values_list("object_id", "change_message")
    kept = f"deleted it: It is about: {CANARY} {notes[1]}."
    assert list(told) == [(notes[0], "deleted it"), (notes[1], kept)]
    assert as_json(erase(ana, "note", notes[1]))["state"] == "done"
    assert CANARY.lower() not in dump()


def test_an_erased_tenant_leaves_its_erasure_and_nothing_else(
    ana: Agent, cleo: Agent, conversation: uuid.UUID, folder: Path
) -> None:
    tell_everywhere(ana, conversation)
    write_canary(ana)
    said = {"keep": [CANARY], "never": [CANARY], "words": [{"word": CANARY, "meaning": CANARY}]}
    saved = ana.client.put("/api/v0/instructions", said, content_type="application/json")
    assert saved.status_code == 200
    assert cleo.post("notes", {"content": "Cleo likes canals."}).status_code == 201
    drain_jobs()
    others = digest(cleo.tenant)
    foretold = as_json(erase(ana, "tenant", ana.tenant.name, dry_run=True))
    asked = erase(ana, "tenant", ana.tenant.id)
    assert asked.status_code == 202
    drain_jobs()
    with across_tenants():
        erasure = Erasure.across_tenants.get(id=asked.json()["id"])
    assert (erasure.state, erasure.counts) == ("done", foretold["counts"])
    told = dump()
    assert CANARY.lower() not in told
    assert ana.tenant.name not in told
    lines = [line for line in told.splitlines() if str(ana.tenant.id) in line]
    assert len(lines) == 1 and str(erasure.id) in lines[0]
    assert not mentions(folder)
    assert digest(cleo.tenant) == others
    assert ana.get("facts").status_code == 401

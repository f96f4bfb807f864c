"""Asking for an erasure: who may, what is refused, what stays on record."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from jobs.models import Job
from memoryproject.tenancy.walls import acting_for
from semantic.models import Changeset
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.erasure.lives import as_json, digest, erase, memories
from wings.erasure.models import Erasure, State
from wings.navigation.mirror import FolderAway
from wings.notes.models import Note

pytestmark = pytest.mark.django_db

SCOPES = ["message", "conversation", "note", "user", "tenant"]


@pytest.fixture(scope="module")
def named(ana: Agent, told: uuid.UUID) -> dict[str, str]:
    return name_parts(ana, told)


def name_parts(ana: Agent, told: uuid.UUID) -> dict[str, str]:
    """Return the name of something of ana's, by scope."""
    note = ana.post("notes", {"content": "Mira likes canals.", "user_id": "mira"}).json()["id"]
    message = Message.objects.of(ana.tenant).order_by("seq")[0]
    return {
        "message": str(message.id),
        "conversation": str(told),
        "note": note,
        "user": "mira",
        "tenant": str(ana.tenant.id),
    }


@pytest.mark.parametrize("scope", SCOPES)
def test_a_dry_run_changes_nothing(ana: Agent, named: dict[str, str], scope: str) -> None:
    before, jobs = digest(ana.tenant), Job.objects.of(ana.tenant).count()
    answer = as_json(erase(ana, scope, named[scope], dry_run=True))
    assert (answer["state"], answer["id"]) == ("preview", None)
    assert sum(answer["counts"].values()) > 0
    assert digest(ana.tenant) == before
    assert Job.objects.of(ana.tenant).count() == jobs
    assert ana.get("erasures").json()["items"] == []


@pytest.mark.parametrize("scope", SCOPES)
def test_an_unknown_name_is_not_found(ana: Agent, scope: str) -> None:
    assert_problem(erase(ana, scope, uuid.uuid4()), 404)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "episode"}, "scope"),
        ({"scope": None}, "scope"),
        ({"id": "not a uuid"}, "id"),
        ({"id": 7}, "id"),
        ({"id": ""}, "id"),
        ({"reason": ""}, "reason"),
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 2_001}, "reason"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"more": 1}, "more"),
    ],
)
def test_a_bad_request_is_refused(ana: Agent, change: dict[str, Any], field: str) -> None:
    body = {"scope": "message", "id": str(uuid.uuid4()), "reason": "asked for", **change}
    assert_problem(ana.post("erasures", body), 400, field)
    assert not Erasure.objects.of(ana.tenant).exists()


def test_an_erasure_is_on_record_for_its_tenant_alone(
    ana: Agent, cleo: Agent, named: dict[str, str]
) -> None:
    done = as_json(erase(ana, "note", named["note"]))
    assert done["actor"] == "key ana"
    assert done["reason"] == "a request by the person"
    assert done["finished_at"] is not None
    assert ana.get(f"erasures/{done['id']}").json() == done
    assert ana.get("erasures").json()["items"] == [done]
    assert_problem(cleo.get(f"erasures/{done['id']}"), 404)
    assert cleo.get("erasures").json()["items"] == []
    assert_problem(ana.get(f"erasures/{uuid.uuid4()}"), 404)


def test_the_name_of_a_user_is_not_kept(ana: Agent, named: dict[str, str]) -> None:
    done = as_json(erase(ana, "user", "mira"))
    erasure = Erasure.objects.of(ana.tenant).get(id=done["id"])
    assert (erasure.target, erasure.subject) == (None, "")
    assert not Note.objects.of(ana.tenant).exists()


def test_notes_that_once_were_about_a_user_go_too(ana: Agent) -> None:
    note = ana.post("notes", {"content": "One.", "user_id": "mira"}).json()["id"]
    change = {"version": 1, "user_id": "jonas"}
    answer = ana.client.patch(f"/api/v0/notes/{note}", change, content_type="application/json")
    assert answer.status_code == 200
    other = ana.post("notes", {"content": "Two.", "user_id": "jonas"}).json()["id"]
    assert erase(ana, "user", "mira").status_code == 200
    assert_problem(ana.get(f"notes/{note}"), 404)
    assert ana.get(f"notes/{other}").status_code == 200


def test_a_deleted_note_can_be_erased(ana: Agent, named: dict[str, str]) -> None:
    assert ana.client.delete(f"/api/v0/notes/{named['note']}").status_code in {200, 204}
    assert as_json(erase(ana, "note", named["note"]))["counts"]["notes"] == 1
    assert not Note.objects.of(ana.tenant).exists()


def test_a_large_conversation_is_left_to_a_worker(
    ana: Agent, named: dict[str, str], settings: Any
) -> None:
    settings.ERASURE_WAITS_FOR_MESSAGES = 3
    asked = erase(ana, "conversation", named["conversation"])
    assert asked.status_code == 202
    erasure = asked.json()
    assert (erasure["state"], erasure["counts"]) == ("running", {})
    assert memories(ana) > 1
    drain_jobs()
    done = ana.get(f"erasures/{erasure['id']}").json()
    assert done["state"] == "done"
    assert ana.get(f"jobs/{erasure['job_id']}").json()["state"] == "done"
    assert memories(ana) == 1  # the note


def test_a_long_erasure_goes_on_in_the_next_run(
    ana: Agent, named: dict[str, str], settings: Any
) -> None:
    settings.FLUSH_AT_MOST_S = 0
    settings.ERASED_NOTES_AT_ONCE = 1
    for number in range(3):
        ana.post("notes", {"content": f"Note {number}.", "user_id": "mira"})
    asked = erase(ana, "user", "mira")
    assert (asked.status_code, asked.json()["counts"]["notes"]) == (202, 1)
    drained = drain_jobs()
    assert drained.ran > 3
    done = ana.get(f"erasures/{asked.json()['id']}").json()
    assert (done["state"], done["counts"]["notes"]) == ("done", 4)


def test_an_erasure_is_not_done_while_pages_of_it_lie_in_files(
    ana: Agent, named: dict[str, str], settings: Any, tmp_path: Any
) -> None:
    settings.MIRROR_DIR = tmp_path / "mirror"
    note = ana.post("notes", {"content": "Mira likes boats."}).json()["id"]
    drain_jobs()
    (tmp_path / "mirror").rename(tmp_path / "elsewhere")
    (tmp_path / "mirror").write_text("in the way")
    asked = erase(ana, "note", note)
    assert (asked.status_code, asked.json()["state"]) == (202, "running")
    assert_problem(ana.get(f"notes/{note}"), 404)
    job = Job.objects.of(ana.tenant).get(id=asked.json()["job_id"])
    assert job.error_class == FolderAway.__name__
    (tmp_path / "mirror").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "mirror")
    assert "boats" in "".join(path.read_text() for path in tmp_path.rglob("*.md"))
    Job.objects.of(ana.tenant).filter(id=job.id).update(run_after=job.created_at)
    drain_jobs()
    assert ana.get(f"erasures/{asked.json()['id']}").json()["state"] == "done"
    assert "boats" not in "".join(path.read_text() for path in tmp_path.rglob("*.md"))


@pytest.mark.parametrize("scope", ["conversation", "user"])
def test_what_comes_after_the_rows_are_gone_is_not_erased_with_them(
    ana: Agent, named: dict[str, str], settings: Any, tmp_path: Any, scope: str
) -> None:
    settings.MIRROR_DIR = tmp_path / "mirror"
    settings.MIRROR_DIR.write_text("in the way")
    asked = erase(ana, scope, named[scope])
    assert (asked.status_code, asked.json()["state"]) == (202, "running")
    ana.say(uuid.UUID(named["conversation"]), "I live in Porto now.")
    ana.post("notes", {"content": "Mira likes boats.", "user_id": "mira"})
    settings.MIRROR_DIR.unlink()
    job = Job.objects.of(ana.tenant).get(id=asked.json()["job_id"])
    Job.objects.of(ana.tenant).filter(id=job.id).update(run_after=job.created_at)
    drain_jobs()
    assert ana.get(f"erasures/{asked.json()['id']}").json()["state"] == "done"
    said = Message.objects.of(ana.tenant).order_by("seq").values_list("content", flat=True)
    assert list(said)[-1] == "I live in Porto now."
    written = Note.objects.of(ana.tenant).order_by("id").values_list("content", flat=True)
    assert list(written)[-1] == "Mira likes boats."


def test_history_goes_only_with_a_tenant_that_is_being_erased(ana: Agent, told: uuid.UUID) -> None:
    home = Conversation.objects.of(ana.tenant).get()
    assert Changeset.objects.of(ana.tenant).exists()
    calls = [
        ("SELECT public.memory_erase_history(%s, %s)", [ana.tenant.id, home.id]),
        ("SELECT public.memory_forget_reasons(%s, %s)", [ana.tenant.id, [home.id]]),
        ("SELECT public.memory_forget_acts(%s, %s)", [ana.tenant.id, [home.id]]),
    ]
    for statement, given in calls:
        with (
            pytest.raises(IntegrityError, match="being erased"),
            transaction.atomic(),
            acting_for(ana.tenant.id),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement, given)
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT set_config('memory.erasing', 'on', true)")
        Changeset.objects.of(ana.tenant).delete()


def test_an_erasure_stays_on_record(ana: Agent, named: dict[str, str]) -> None:
    done = as_json(erase(ana, "note", named["note"]))
    mine = Erasure.objects.of(ana.tenant).filter(id=done["id"])
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.delete()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.update(state=State.RUNNING, finished_at=None)

"""Several who erase the same at once erase it once; who waits too long is told that it runs."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from jobs.models import Job, State
from memoryproject.edge.deadlines import Work
from memoryproject.tenancy.walls import acting_for
from tests.api.threads import run_in_threads
from tests.conftest import Agent
from tests.erasure.lives import erase
from tests.erasure.test_asking import name_parts
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]


def test_erasing_the_same_at_once_counts_it_once(ana: Agent, told: uuid.UUID) -> None:
    named = name_parts(ana, told)
    for scope, kind in (("message", "messages"), ("conversation", "messages"), ("note", "notes")):
        before = Message.objects.of(ana.tenant).count() if scope == "conversation" else 1
        answers = run_in_threads(lambda _, s=scope: erase(ana, s, named[s]), threads=4)
        found = [answer for answer in answers if answer.status_code != 404]
        assert {answer.status_code for answer in answers} <= {200, 202, 404}
        drain_jobs()
        counts = [ana.get(f"erasures/{one.json()['id']}").json() for one in found]
        assert {one["state"] for one in counts} == {"done"}
        assert sum(one["counts"].get(kind, 0) for one in counts) == before


def test_an_erasure_on_record_is_told_however_late_it_is(ana: Agent, told: uuid.UUID) -> None:
    is_locked, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with acting_for(ana.tenant.id), transaction.atomic():
            Conversation.objects.of(ana.tenant).select_for_update().get(external_id=told)
            is_locked.set()
            may_end.wait(60)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_locked.wait(60)
    try:
        with Work(seconds=3).begin():
            answer = erase(ana, "conversation", str(told))
    finally:
        may_end.set()
        holder.join()
    assert (answer.status_code, answer.json()["state"]) == (202, "running"), answer.content
    Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
    drain_jobs()
    assert ana.get(f"erasures/{answer.json()['id']}").json()["state"] == "done"

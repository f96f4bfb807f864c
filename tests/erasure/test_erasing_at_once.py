"""Several who erase the same at once erase it once."""

from __future__ import annotations

import uuid

import pytest

from episodic.models import Message
from jobs.draining import drain_jobs
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

"""What an operator does in the admin, and what is left on record of it."""

from __future__ import annotations

import html
import uuid
from datetime import timedelta
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from jobs.models import Job, Kind, State
from tests.conftest import Agent

SCRIPT = "<script>alert(1)</script>"


def make_job(agent: Agent, **given: Any) -> Job:
    if given.get("state") == State.RUNNING:
        given |= {"lease_token": uuid.uuid4(), "lease_until": Now() + timedelta(seconds=30)}
    return Job.objects.create(
        **{"tenant": agent.tenant, "kind": Kind.FLUSH, "scope": uuid.uuid4(), **given}
    )


def post(browser: Client, page: str, /, *ids: Any, **given: Any) -> Any:
    return browser.post(reverse(f"console:{page}", args=ids), given, follow=True)


def read(browser: Client, row: Any) -> str:
    """Return the text of a row's page."""
    answer = browser.get(
        reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_change", args=[row.pk])
    )
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def records_of(row: Any) -> list[tuple[str, str]]:
    entries = LogEntry.objects.filter(object_id=str(row.pk)).order_by("id")
    return [(entry.user.get_username(), entry.get_change_message()) for entry in entries]

"""Of which events people are told: in which words, whom, and where it can be mended."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from events.models import EventType
from memoryproject.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Notice:
    """How people are told of events of one type."""

    one: str
    many: str
    """With a slot for how many."""
    permission: str
    """Who has it in the tenant is told, and nobody else."""
    page: str
    """Of the admin; its address ends in the subject."""
    subject: str
    """The name in an event's data of the id that the page is about; without one the tenant."""


OPERATES, CURATES, READS = "jobs.operate_job", "semantic.curate_fact", "semantic.view_fact"
NOTICES = {
    EventType.JOB_DEAD: Notice(
        "A job is dead", "{} jobs are dead", OPERATES, "admin:jobs_job_change", "job_id"
    ),
    EventType.BUDGET_NEAR: Notice(
        "80 % of the day's budget is spent",
        "80 % of the day's budget is spent",
        "tenancy.set_budget",
        "console:budget",
        "",
    ),
    EventType.FACT_RETIRED: Notice(
        "A fact was retired",
        "{} facts were retired within an hour",
        CURATES,
        "admin:semantic_changeset_change",
        "changeset_id",
    ),
    EventType.TEST_FAILED: Notice(
        "A memory test fails",
        "{} memory tests fail",
        CURATES,
        "admin:retrieval_memorytest_change",
        "test_id",
    ),
    EventType.FACT_CORRECTED: Notice(
        "A fact was retired after it was served",
        "{} facts were retired after they were served",
        READS,
        "admin:semantic_changeset_change",
        "changeset_id",
    ),
}


def render_words(type: str, count: int) -> str:
    """Return what happened, in words without content."""
    notice = NOTICES[EventType(type)]
    return notice.one if count == 1 else notice.many.format(count)


def find_address(type: str, subject: UUID, tenant: Tenant) -> str:
    """Return the address of the page that mends it, from the tenant's side."""
    page = reverse(NOTICES[EventType(type)].page, args=[subject])
    return f"{page}?{urlencode({'tenant': tenant.name})}"

"""Of which events people are told: in which words, whom, and where it can be mended."""

from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from events.models import EventType
from memoryproject.tenancy.models import Tenant


class Notice(NamedTuple):
    """How people are told of events of one type; who has the permission there is told."""

    words: str
    permission: str
    page: str
    """Of the admin; its address ends in the subject, but for that of the queue."""
    subject: str
    """The name in an event's data of the id that the page is about; without one the tenant."""


CHANGESET, TEST = "admin:semantic_changeset_change", "admin:retrieval_memorytest_change"
JOB, CURATES, READS = "admin:jobs_job_change", "semantic.curate_fact", "semantic.view_fact"
QUEUE = "console:review_queue"
NOTICES = {
    EventType.JOB_DEAD: Notice("A job is dead", "jobs.operate_job", JOB, "job_id"),
    EventType.BUDGET_NEAR: Notice(
        "80 % of the day's budget is spent", "tenancy.set_budget", "console:budget", ""
    ),
    EventType.FACT_RETIRED: Notice(
        "Many facts were retired within an hour", CURATES, CHANGESET, "changeset_id"
    ),
    EventType.TEST_FAILED: Notice("A memory test fails", CURATES, TEST, "test_id"),
    EventType.RULE_STOPPED: Notice("A rule stopped deciding by itself", CURATES, QUEUE, ""),
    EventType.FACT_CORRECTED: Notice(
        "A fact was retired after it was served", READS, CHANGESET, "changeset_id"
    ),
}


def render_words(type: str, count: int) -> str:
    """Return what happened, in words without content."""
    words = NOTICES[EventType(type)].words
    return words if count == 1 else f"{words} (×{count})"


def find_address(type: str, subject: UUID, tenant: Tenant) -> str:
    """Return the address of the page that mends it, from the tenant's side."""
    notice = NOTICES[EventType(type)]
    page = reverse(notice.page, args=[] if notice.page == QUEUE else [subject])
    return f"{page}?{urlencode({'tenant': tenant.name})}"

"""A tour of the admin in five steps: what each page is for, for whoever opens it first."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import page_for, show_page


@dataclass(frozen=True, slots=True)
class Step:
    """A page to look at, for those with a permission."""

    title: str
    page: str
    permission: str
    text: str


STEPS = (
    Step(
        "What was said",
        "admin:episodic_conversation_changelist",
        "episodic.view_conversation",
        "Open a conversation: messages stand in episodes, and beside them what was learnt. Move "
        "the slider to see what was believed on another day.",
    ),
    Step(
        "What is believed",
        "admin:semantic_fact_changelist",
        "semantic.view_fact",
        "Open a fact: the messages that it rests on, its versions, who changed it, and the answers "
        "that it was served in. Curators correct it with e, retire it with i, and undo with u.",
    ),
    Step(
        "Why did it say that?",
        "console:case_file",
        "retrieval.view_retrieval",
        "Write a phrase of an answer, or open one of the latest: the facts as they were then, and "
        "what has changed since.",
    ),
    Step(
        "What is to be decided",
        "console:review_queue",
        "semantic.view_suggestion",
        "What seems to contradict or repeat, what was served most first. Press ? for the keys: a "
        "accepts, d declines, m merges, e corrects, u undoes.",
    ),
    Step(
        "Two days compared",
        "console:compare",
        "semantic.view_changeset",
        "Choose two moments: the facts that were believed at one of them alone, with who changed "
        "them and why.",
    ),
    Step(
        "Who calls",
        "admin:tenancy_apikey_changelist",
        "tenancy.view_apikey",
        "The key that calls most comes first, with its errors and cost; limit, rotate or revoke it "
        "on its page.",
    ),
    Step(
        "What runs",
        "admin:jobs_job_changelist",
        "jobs.view_job",
        "Work that waits, runs or has died, with what it cost. A dead job is retried on its page.",
    ),
)
STEPS_AT_MOST = 5


@page_for()
def show_tour(request: HttpRequest) -> HttpResponse:
    """Show the first five steps that the person may take, each with a link to its page."""
    steps = [step for step in STEPS if request.user.has_perm(step.permission)][:STEPS_AT_MOST]
    return show_page(
        request,
        "console/tour.html",
        title="A tour in five steps",
        steps=[(step, reverse(step.page)) for step in steps],
    )

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
        "Conversations",
        "admin:episodic_conversation_changelist",
        "episodic.view_conversation",
        "Open one: messages stand in episodes, and beside them the facts from them. Move the "
        "slider to see which facts were active on another day.",
    ),
    Step(
        "Facts",
        "admin:semantic_fact_changelist",
        "semantic.view_fact",
        "Open one: the messages that are its evidence, its versions, who changed it, and the "
        "answers that it was served in. Curators correct it with e, retire it with i, and undo "
        "with u what they have just done.",
    ),
    Step(
        "Why did it say that?",
        "console:case_file",
        "retrieval.view_retrieval",
        "Write a phrase of an answer, or open one of the latest questions: the facts as they were "
        "then, what the assistant then said, and what has changed since.",
    ),
    Step(
        "Review queue",
        "console:review_queue",
        "semantic.view_suggestion",
        "Facts that may contradict or repeat each other, what was served most first. The buttons "
        "say what they do. Press ? for their keys, which act on the first entry; u undoes.",
    ),
    Step(
        "Compare two moments",
        "console:compare",
        "semantic.view_changeset",
        "Choose two moments: the facts that were active at one of them alone, with who changed "
        "them and why.",
    ),
    Step(
        "API keys",
        "admin:tenancy_apikey_changelist",
        "tenancy.view_apikey",
        "The key that calls most comes first, with its errors and cost; limit, rotate or revoke it "
        "on its page.",
    ),
    Step(
        "Jobs",
        "admin:jobs_job_changelist",
        "jobs.view_job",
        "Background work that is ready, runs or is dead, with what it cost. A dead job is retried "
        "on its page.",
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
        title="Tour",
        steps=[(step, reverse(step.page)) for step in steps],
    )

"""Memory tests in the admin: turning a case into one, running and deleting it, its page."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from console.action_log import record
from console.cases.page import SEEN_BY, MemoryTestForm
from console.facts.forms import CURATE
from console.forms import submit
from console.pages import action_for, get_row, redirect_to, show_page
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Problem
from retrieval import memory_tests
from retrieval.models import MemoryTest, Retrieval

SEES_TEST = ("retrieval.view_memorytest", CURATE)


@action_for(*SEEN_BY, *SEES_TEST)
def create_test(request: HttpRequest, retrieval_id: uuid.UUID) -> HttpResponse:
    """Make a memory test of an answered question, and run it."""
    rows = Retrieval.across_tenants.select_related("tenant", "conversation")
    retrieval = get_object_or_404(rows, id=retrieval_id, conversation__isnull=False)
    form = MemoryTestForm(request.POST, prefix="test")

    def create() -> HttpResponse:
        test = MemoryTest(
            tenant=retrieval.tenant,
            conversation=retrieval.conversation,
            query=retrieval.query,
            max_tokens=retrieval.parameters.get("max_tokens"),
            case_id=retrieval.id,
            made_by=request.user.get_username(),
            **form.cleaned_data,
        )
        memory_tests.create_test(test)
        return redirect_to(test)

    template, title = "console/cases/test_form.html", "Turn this case into a test"
    return submit(form, create) or show_page(
        request, template, title=title, form=form, retrieval=retrieval
    )


@action_for(*SEES_TEST)
def change_test(request: HttpRequest, test_id: uuid.UUID, name: str) -> HttpResponse:
    """Run a memory test, or delete it."""
    test = get_row(MemoryTest, test_id, "conversation")
    if name == "delete":
        record(request, test, "deleted it")
        test.delete()
        messages.success(request, "Deleted.")
        return redirect("admin:retrieval_memorytest_changelist")
    try:
        memory_tests.run_tests([test], now=read_database_clock())
    except (ModelUnavailable, Problem) as error:
        messages.error(request, str(error))
    return redirect_to(test)


def get_story(request: HttpRequest, test: MemoryTest) -> Mapping[str, Any]:
    """Return what stands above a memory test's columns."""
    verdicts = {
        name: [
            (text, f"{name}.{place}" not in test.failures)
            for place, text in enumerate(getattr(test, name))
        ]
        for name in ("must_say", "must_not_say")
    }
    return {
        **verdicts,
        "is_short": "at_most_tokens" not in test.failures,
        "may_curate": request.user.has_perm(CURATE),
    }

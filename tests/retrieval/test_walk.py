"""Through which files of retrieval a query passes: as many as a reader opens, few and named."""

from __future__ import annotations

import re
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.conftest import Agent, tell
from tests.guards.pages import read_page

pytestmark = pytest.mark.django_db

AT_MOST, IN_A_BUDGET_AT_MOST = 16, 25


def trace_files(agent: Agent, body: dict[str, Any]) -> set[str]:
    """Return the files of retrieval of which an answer, one of many, runs any function."""
    agent.post("retrieve_memory", body)  # the first makes the fields of its form
    folder = str(settings.BASE_DIR / "retrieval") + "/"
    files: set[str] = set()

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            files.add(str(Path(frame.f_code.co_filename).relative_to(settings.BASE_DIR)))

    sys.setprofile(note)
    try:
        answer = agent.post("retrieve_memory", body)
    finally:
        sys.setprofile(None)
    assert answer.status_code == 200 and answer.content
    return files


@pytest.mark.parametrize("extra", [{}, {"detail": "high"}, {"max_tokens": 60}])
def test_an_answer_passes_through_few_files_that_the_documentation_names(
    ana: Agent, extra: dict[str, Any]
) -> None:
    told = tell(ana, uuid.uuid4())
    body = {"conversation_id": str(told), "query": "Where did Mira move in May 2026?", **extra}
    files = trace_files(ana, body)
    named = set(re.findall(r"`(retrieval/[\w/]+\.py)`", read_page("docs/architecture.md")))
    assert files <= named
    assert len(files) <= (IN_A_BUDGET_AT_MOST if "max_tokens" in extra else AT_MOST)

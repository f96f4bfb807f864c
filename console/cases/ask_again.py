"""Repeats the questions whose answers served a fact, and shows each answer before and after."""

import uuid
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from console.cases.page import SEEN_BY
from console.pages import Answer, admin_page, get_row
from console.playground.page import PERMISSION as RUN_PLAYGROUND
from episodic.revealing import Reader
from retrieval.models import Retrieval, RetrievalHit
from retrieval.recall import draft_answer
from retrieval.replay import replay
from retrieval.request import read_request
from semantic import marking
from semantic.contradictions import Claim
from semantic.models import Fact

QUESTIONS_AT_MOST = 10
AT_ONCE = 3
"""Questions of a page: each is a whole answer anew."""
READ_AT_MOST = 200
"""Of the newest answers; the same question counts once."""
NOT_KEPT = "(What was served was not kept.)"


class Line(NamedTuple):
    """A line of an answer, whether it says the old fact, and whether it is marked if so now."""

    text: str
    says_old: bool
    is_marked: bool


@admin_page("console/cases/ask_again.html", "Ask again", *SEEN_BY, RUN_PLAYGROUND)
def show_answers(request: HttpRequest, fact_id: uuid.UUID) -> Answer:
    """Show the newest questions that what a fact replaced was served for, else the fact."""
    fact = get_row(Fact, fact_id, "conversation")
    reader = Reader(request.user)
    facts = marking.facts_behind(fact)
    old = facts[0]
    claim = Claim(old.fact, "" if old.id == fact.id else fact.fact)
    retired = [row for row in facts if row.invalid_at is not None]
    found = _find_questions(retired or facts)
    page = Paginator(found, AT_ONCE).get_page(request.GET.get("page"))
    for question in page:
        _repeat(question, claim, reader)
    after = [line for question in page for line in question.after]
    return {
        "fact": fact,
        "page": page,
        "left": sum(line.says_old and not line.is_marked for line in after),
        "is_cut": len(found) == QUESTIONS_AT_MOST,
    }


def _find_questions(facts: list[Fact]) -> list[Any]:
    """Return the newest answers of retrieval calls that served one of the facts, newest first."""
    hits = RetrievalHit.objects.of(facts[0].tenant).filter(memory_id__in=[row.id for row in facts])
    kinds = [Retrieval.Kind.RETRIEVE, Retrieval.Kind.RETRIEVE_RAW, Retrieval.Kind.CONTEXT]
    rows = Retrieval.objects.of(facts[0].tenant).filter(
        id__in=hits.order_by("-id").values_list("retrieval")[:READ_AT_MOST], kind__in=kinds
    )
    newest: dict[tuple[uuid.UUID | None, str], Retrieval] = {}
    for row in rows.select_related("tenant", "conversation").order_by("-created_at", "-id"):
        newest.setdefault((row.conversation_id, row.query), row)
    return list(newest.values())[:QUESTIONS_AT_MOST]


def _repeat(retrieval: Any, claim: Claim, reader: Reader) -> None:
    """Set what a question was answered with then as `before`, and as `after` what it would be."""
    draft = draft_answer(
        tenant=retrieval.tenant, request=read_request(retrieval), now=timezone.now()
    )
    unmarked, served = set(draft.chosen.unmarked_lines), replay(retrieval).text

    def show(answer: str) -> list[Line]:
        place = retrieval.conversation_id
        return [
            Line(reader.show(text, place), claim.is_said_in(text), text not in unmarked)
            for text in answer.splitlines()
            if text.strip()
        ]

    retrieval.before = show(NOT_KEPT if served is None else served)
    retrieval.after = show(draft.chosen.text)

"""Repeats the questions whose answers served a fact, and shows each answer before and after."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cases.page import SEEN_BY
from console.pages import get_row, page_for, show_page
from console.playground.page import PERMISSION as RUN_PLAYGROUND
from episodic.models import Episode
from episodic.revealing import Reader
from retrieval.models import Retrieval, RetrievalHit
from retrieval.recall import draft_answer
from retrieval.request import read_request
from semantic import marking
from semantic.contradictions import Claim
from semantic.models import Fact

QUESTIONS_AT_MOST = 10
READ_AT_MOST = 200
"""Of the newest answers; the same question counts once."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an answer, whether it says the old fact, and whether it is marked if so."""

    text: str
    says_old: bool = False
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Repeated:
    """A question with what it was answered with then, and what it would be now."""

    retrieval: Retrieval
    before: list[Line]
    after: list[Line]

    @property
    def left(self) -> int:
        """How many lines say the old without a mark."""
        return sum(line.says_old and not line.is_marked for line in self.after)


@page_for(*SEEN_BY, RUN_PLAYGROUND)
def show_answers(request: HttpRequest, fact_id: uuid.UUID) -> HttpResponse:
    """Show the newest questions that a fact, or what it replaced, was served for."""
    fact = get_row(Fact, fact_id, "conversation")
    reader = Reader(request.user)
    facts = marking.facts_behind(fact)
    old = facts[0]
    claim = Claim(old.fact, "" if old.id == fact.id else fact.fact)
    questions = [_repeat(row, claim, reader) for row in _find_questions(facts)]
    return show_page(
        request,
        "console/cases/ask_again.html",
        title="Ask again",
        fact=fact,
        questions=questions,
        left=sum(question.left for question in questions),
        at_most=QUESTIONS_AT_MOST,
    )


def _find_questions(facts: list[Fact]) -> list[Retrieval]:
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


def _repeat(retrieval: Retrieval, claim: Claim, reader: Reader) -> Repeated:
    draft = draft_answer(
        tenant=retrieval.tenant, request=read_request(retrieval), now=timezone.now()
    )
    unmarked = set(draft.chosen.unmarked_lines)
    after = [
        Line(
            reader.show(text, retrieval.conversation_id),
            says_old=claim.is_said_in(text),
            is_marked=text not in unmarked,
        )
        for text in draft.chosen.text.splitlines()
        if text.strip()
    ]
    return Repeated(retrieval, list(_read_served(retrieval, claim, reader)), after)


def _read_served(retrieval: Retrieval, claim: Claim, reader: Reader) -> Iterator[Line]:
    """Yield what an answer served: sentences of facts, titles and summaries of episodes."""
    hits = list(
        RetrievalHit.objects.of(retrieval.tenant)
        .filter(retrieval=retrieval)
        .order_by("-memory_kind", "rank", "id")
    )
    ids = [hit.memory_id for hit in hits]
    facts = Fact.objects.of(retrieval.tenant).in_bulk(ids)
    episodes = Episode.objects.of(retrieval.tenant).in_bulk(ids)
    for hit in hits:
        if hit.memory_id in facts:
            text = facts[hit.memory_id].fact
            yield Line(text, says_old=claim.is_said_in(text))
        elif hit.memory_id in episodes:
            episode = episodes[hit.memory_id]
            text = f"{episode.title}. {episode.summary}"
            yield Line(
                reader.show(text, retrieval.conversation_id), says_old=claim.is_said_in(text)
            )
        else:
            yield Line("(erased)")

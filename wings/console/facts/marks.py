"""Pages of marks: places that still state a retired fact, and answers that may."""

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from episodic.models import Episode, Message
from episodic.revealing import Reader
from memoryproject.adminkit.values import MEMORY_PAGES, link_to_page
from retrieval.models import Retrieval, RetrievalHit
from retrieval.recall import draft_answer
from retrieval.receipts import replay
from retrieval.request import read_request
from semantic.contradictions import Claim
from semantic.curation import Act
from semantic.models import CorrectionMark, Fact
from wings.console.facts.actions import SEES_FACT
from wings.console.forms import ReasonForm, submit
from wings.console.pages import SEES_CASE, Answer, admin_page, get_row, redirect_to
from wings.console.playground.page import PERMISSION as RUN_PLAYGROUND
from wings.console.texts import TEXTS
from wings.marks import marking
from wings.marks.correction_marks import facts_behind, list_marks

SHOWN_AT_MOST = 200
SNIPPET = 300
QUESTIONS_AT_MOST = 10
AT_ONCE = 3
"""Number of questions on a page: each is answered again."""
READ_AT_MOST = 200
"""Number of newest answers that are read; the same question counts once."""
NOT_KEPT = "(What was served was not kept.)"
Place = CorrectionMark.Place


class MarksForm(ReasonForm):
    decision = forms.ChoiceField(
        choices=list(TEXTS["mark_decisions"].items()), widget=forms.RadioSelect
    )
    field_order = ("decision", "reason")


def read_marks(fact: Fact, reader: Reader) -> list[Any]:
    """Return the marks of a fact and of those it replaced, by three queries.

    Each has a `link` to its place, and the place's `text`, masked as the person's rights require.
    """
    marks: list[Any] = list_marks(fact)[:SHOWN_AT_MOST]
    texts = _read_texts(fact, marks, reader)
    for mark in marks:
        page = {**MEMORY_PAGES, Place.MESSAGE: "episodic_message"}[mark.place]
        mark.link = link_to_page(page, mark.place_id, mark.place)
        mark.text = texts.get(mark.place_id, "(gone)")
    return marks


def _read_texts(
    fact: Fact, marks: Sequence[CorrectionMark], reader: Reader
) -> dict[uuid.UUID, str]:
    ids = [mark.place_id for mark in marks]
    texts = {row.id: row.fact for row in Fact.objects.of(fact.tenant).filter(id__in=ids)}
    for episode in reader.rows(Episode.objects.of(fact.tenant).filter(id__in=ids)):
        text = f"{episode.title}: {episode.summary}"
        texts[episode.id] = reader.show(text, fact.conversation_id)
    for message in Message.objects.of(fact.tenant).filter(id__in=ids):
        said = reader.show(message.content[:SNIPPET], fact.conversation_id)
        texts[message.id] = f"{message.name or message.role}: {said}"
    notes = [mark.place_id for mark in marks if mark.place == Place.NOTE]
    return dict.fromkeys(notes, "a note") | texts


@admin_page("console/facts/marks.html", "Places that say the old", *SEES_FACT, posts=True)
def decide_marks(request: HttpRequest, fact_id: uuid.UUID) -> Answer:
    """Apply the form's decision to the selected marks, and return to the fact."""
    fact = get_row(Fact, fact_id, "conversation")
    form = MarksForm(request.POST, prefix="marks")
    chosen = [mark for mark in request.POST.getlist("mark") if mark]

    def act() -> HttpResponse:
        marks = {str(mark.id): mark.id for mark in list_marks(fact)}
        decision: str = form.cleaned_data["decision"]
        marking.decide(
            act=Act(fact.tenant, request.user.get_username(), form.cleaned_data["reason"]),
            fact=fact,
            mark_ids=[marks[mark_id] for mark_id in chosen if mark_id in marks],
            decision=decision,
        )
        messages.success(request, TEXTS["decided_marks"][decision])
        return redirect_to(fact, anchor="#marks")

    return submit(form, act) or {
        "form": form,
        "fact": fact,
        "marks": read_marks(fact, Reader(request.user)),
        "chosen": chosen,
    }


class Line(NamedTuple):
    """A line of an answer, whether it states the old fact, and whether it has a mark now."""

    text: str
    says_old: bool
    is_marked: bool


@admin_page("console/facts/ask_again.html", "Ask again", *SEES_CASE, RUN_PLAYGROUND)
def show_answers(request: HttpRequest, fact_id: uuid.UUID) -> Answer:
    """Show the newest questions that were answered with the replaced facts, or with this one."""
    fact = get_row(Fact, fact_id, "conversation")
    reader = Reader(request.user)
    facts = facts_behind(fact)
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
    """Return the newest retrieve calls that served one of the facts, newest first."""
    hits = RetrievalHit.objects.of(facts[0].tenant).filter(memory_id__in=[row.id for row in facts])
    kind = Retrieval.Kind
    kinds = [kind.RETRIEVE, kind.RETRIEVE_RAW, kind.CONTEXT, kind.ASK]
    rows = Retrieval.objects.of(facts[0].tenant).filter(
        id__in=hits.order_by("-id").values_list("retrieval")[:READ_AT_MOST], kind__in=kinds
    )
    newest: dict[tuple[uuid.UUID | None, str], Retrieval] = {}
    for row in rows.select_related("tenant", "conversation").order_by("-created_at", "-id"):
        newest.setdefault((row.conversation_id, row.query), row)
    return list(newest.values())[:QUESTIONS_AT_MOST]


def _repeat(retrieval: Any, claim: Claim, reader: Reader) -> None:
    """Set the answer given to a question as `before`, and the current one as `after`."""
    draft = draft_answer(
        tenant=retrieval.tenant, request=read_request(retrieval), now=timezone.now()
    )
    unmarked, served = set(draft.unmarked_lines), replay(retrieval).text

    def show(answer: str) -> list[Line]:
        place = retrieval.conversation_id
        return [
            Line(reader.show(text, place), claim.is_said_in(text), text not in unmarked)
            for text in answer.splitlines()
            if text.strip()
        ]

    retrieval.before = show(NOT_KEPT if served is None else served)
    retrieval.after = show(draft.text)

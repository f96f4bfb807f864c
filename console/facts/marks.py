"""Places that still say what a retired fact said: showing them, and deciding on them."""

import uuid
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from console.facts.actions import SEES_FACT
from console.forms import ReasonForm, submit
from console.pages import Answer, admin_page, get_row, redirect_to
from console.texts import TEXTS
from episodic.models import Episode, Message
from episodic.revealing import Reader
from memoryproject.adminkit.values import MEMORY_PAGES, link_to_page
from semantic import marking
from semantic.correction_marks import list_marks
from semantic.curation import Act
from semantic.models import CorrectionMark, Fact

SHOWN_AT_MOST = 200
SNIPPET = 300
Place = CorrectionMark.Place


class MarksForm(ReasonForm):
    """Decide on marks."""

    decision = forms.ChoiceField(
        choices=list(TEXTS["mark_decisions"].items()), widget=forms.RadioSelect
    )
    field_order = ("decision", "reason")


def read_marks(fact: Fact, reader: Reader) -> list[Any]:
    """Return the marks of a fact and of what it replaced, in three queries.

    Each has a `link` to its place, and as `text` what that says, as the person may see it.
    """
    marks: list[Any] = list_marks(marking.facts_behind(fact))[:SHOWN_AT_MOST]
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
    for episode in Episode.objects.of(fact.tenant).filter(id__in=ids):
        text = f"{episode.title}: {episode.summary}"
        texts[episode.id] = reader.show(text, fact.conversation_id)
    for message in Message.objects.of(fact.tenant).filter(id__in=ids):
        said = reader.show(message.content[:SNIPPET], fact.conversation_id)
        texts[message.id] = f"{message.name or message.role}: {said}"
    notes = [mark.place_id for mark in marks if mark.place == Place.NOTE]
    return dict.fromkeys(notes, "a note") | texts


@admin_page("console/facts/marks.html", "Places that say the old", *SEES_FACT, posts=True)
def decide_marks(request: HttpRequest, fact_id: uuid.UUID) -> Answer:
    """Do with the chosen marks what the form says, and go back to the fact."""
    fact = get_row(Fact, fact_id, "conversation")
    form = MarksForm(request.POST, prefix="marks")
    chosen = [mark for mark in request.POST.getlist("mark") if mark]

    def act() -> HttpResponse:
        marks = {str(mark.id): mark.id for mark in list_marks(marking.facts_behind(fact))}
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

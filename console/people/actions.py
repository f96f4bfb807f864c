"""Adding a person, merging two and undoing that, and a file of all that is somebody's."""

import json
import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

from console.action_log import record
from console.facts.forms import CURATE
from console.forms import ReasonForm, submit
from console.pages import action_for, choose_tenant, get_row, page_for, redirect_to, show_page
from console.people.page import MergeForm, PersonForm
from memoryproject.edge.pages import PAGE_AT_MOST
from people import services
from people.api import KINDS, take_kind
from people.models import Person

SEES_PERSON = ("people.view_person", CURATE)
EXPORTS = (*SEES_PERSON, "episodic.view_message", "retrieval.view_retrieval")


@page_for(*SEES_PERSON, of_one_tenant=True)
def add_person(request: HttpRequest) -> HttpResponse:
    """Ask under which names and ids somebody is known, and add them."""
    tenant = choose_tenant(request)
    form = PersonForm(request.POST if request.method == "POST" else None)

    def add() -> HttpResponse:
        assert tenant is not None
        person = services.add_person(tenant=tenant, **form.cleaned_data)
        record(request, person, "added them", is_new=True)
        return redirect_to(person)

    added = submit(form, add) if tenant is not None else None
    return added or show_page(request, "console/people/form.html", title="Add a person", form=form)


@action_for(*SEES_PERSON)
def merge_people(request: HttpRequest, person_id: uuid.UUID, name: str) -> HttpResponse:
    """Say that a person is another one, or undo that, with a reason."""
    person, actor = get_row(Person, person_id), request.user.get_username()
    named: dict[str, Any] = {"tenant": person.tenant, "person_id": person.id, "actor": actor}
    form: Any = ReasonForm(request.POST, prefix=name)
    title, act = "Undo a merge", partial(services.undo_merge, **named, now=timezone.now())
    if name == "merge":
        form = MergeForm(request.POST, prefix=name, person=person)
        title, act = "Merge two people", partial(services.merge, **named)
    done = submit(form, lambda: redirect_to(act(**form.cleaned_data)))
    if done is not None:
        messages.success(request, "Done.")
    return done or show_page(
        request, "console/people/form.html", title=title, form=form, person=person
    )


@action_for(*EXPORTS)
def export_person(request: HttpRequest, person_id: uuid.UUID) -> HttpResponseBase:
    """Send all that is a person's as JSON lines, and put it on record."""
    person = get_row(Person, person_id)
    record(request, person, "exported all that is theirs")
    return StreamingHttpResponse(
        _write_lines(person),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="person-{person.id}.jsonl"'},
    )


def _write_lines(person: Person) -> Iterator[str]:
    for kind in KINDS:
        query: dict[str, Any] = {"limit": PAGE_AT_MOST}
        while query:
            page = take_kind(person, kind, query=query)
            for item in page["items"]:
                yield json.dumps({"kind": kind, "item": item}, cls=DjangoJSONEncoder) + "\n"
            query = {**query, "after": page["next"]} if page["next"] else {}

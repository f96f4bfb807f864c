"""The page of a person: names and ids, their data, merging, and export."""

import json
import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.edge.pages import PAGE_AT_MOST
from memoryproject.tenancy.models import Tenant
from wings.console import pages
from wings.console.facts.forms import CURATE
from wings.console.forms import LinesField, ReasonForm, TextForm, submit
from wings.console.labels import set_names
from wings.console.people.attributes import draft_profiles, list_attributes
from wings.people import queries, services
from wings.people.api import KINDS, take_kind
from wings.people.models import Alias, Person
from wings.people.queries import Identity
from wings.people.same import find_same

FORM, KNOWN = "console/people/form.html", "console/people/known.html"
SHOWN_AT_MOST = 100
NAMES_AT_MOST = 50
NAME_AT_MOST = 255
SEES_PERSON = ("people.view_person", CURATE)
SEEN_BY = {
    "facts": "semantic.view_fact", "episodes": "episodic.view_episode",
    "answers": "retrieval.view_retrieval",
}  # fmt: skip
EXPORTS = (*SEES_PERSON, "episodic.view_message", "retrieval.view_retrieval")


class PersonForm(TextForm):
    name = forms.CharField(max_length=NAME_AT_MOST)
    user_ids = LinesField(NAMES_AT_MOST, NAME_AT_MOST)
    speakers = LinesField(NAMES_AT_MOST, NAME_AT_MOST)

    def clean(self) -> None:
        params = self.cleaned_data
        if not self.errors and not (params["user_ids"] or params["speakers"]):
            raise forms.ValidationError("Name an id, or a speaker.")


class KnownForm(TextForm):
    kind = forms.ChoiceField(choices=Alias.Kind.choices)
    value = forms.CharField(strip=False)


class MergeForm(ReasonForm):
    into_id = forms.ModelChoiceField(Person.across_tenants.none())
    field_order = ("into_id", "reason")

    def __init__(self, *args: Any, person: Person, **options: Any) -> None:
        super().__init__(*args, **options)
        others = Person.objects.of(person.tenant).exclude(id=person.id)
        self.fields["into_id"].queryset = others.order_by("name", "id")  # type: ignore[attr-defined]

    def clean_into_id(self) -> uuid.UUID:
        return uuid.UUID(str(self.cleaned_data["into_id"].pk))


def get_story(request: HttpRequest, person: Person) -> Mapping[str, Any]:
    """Return names and ids of a person, and their data."""
    identity = queries.find_identity(person)
    others = Person.objects.of(person.tenant).filter(id__in=identity.person_ids[1:])
    return {
        **tell_belongings(request, person.tenant, identity, person.name),
        "merged_into": queries.find_merge(person),
        "others": list(others.order_by("id")),
        "merge_form": MergeForm(prefix="merge", person=person),
        "unmerge_form": ReasonForm(prefix="unmerge"),
    }


def tell_belongings(
    request: HttpRequest, tenant: Tenant, identity: Identity, name: str
) -> dict[str, Any]:
    """Return a person's names and ids, and their data, newest first."""
    sees, reader = request.user.has_perm, Reader(request.user)
    belongings = queries.list_belongings(tenant, identity)
    newest = {
        kind: rows.order_by("-id")[:SHOWN_AT_MOST]
        for kind, rows in belongings.items()
        if kind in SEEN_BY and sees(SEEN_BY[kind])
    }
    episodes = list(reader.rows(newest["episodes"])) if "episodes" in newest else []
    set_names(episodes, reader)
    return {
        **count_belongings(tenant, identity, belongings),
        "attributes": list_attributes(list(newest["facts"])) if "facts" in newest else {},
        "episodes": sorted(episodes, key=attrgetter("start_at"), reverse=True),
        "answers": newest.get("answers", ()),
        "profiles": draft_profiles(tenant, identity.user_ids, reader) if "facts" in newest else (),
        "reads_all": reader.reads_all,
        "same": find_same(tenant, identity, name),
        "shown_at_most": SHOWN_AT_MOST,
    }


def count_belongings(
    tenant: Tenant, identity: Identity, belongings: Mapping[str, QuerySet[Any]]
) -> dict[str, Any]:
    """Return the number of conversations in which a person speaks, and of all that is theirs."""
    shared = queries.conversations_shared(tenant, identity).count()
    counts = {kind: rows.count() for kind, rows in belongings.items()}
    talks_in = counts.pop("conversations") + shared
    return {"identity": identity, "counts": counts, "talks_in": talks_in, "shared": shared}


@pages.admin_page(KNOWN, "Known to agents", SEES_PERSON[0], of_one_tenant=True)
def show_known(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    """Show a name or id that belongs to no person, or the person who has it."""
    form = KnownForm(request.GET)
    if not form.is_valid():
        raise Http404
    known = queries.Known(tenant, form.cleaned_data["value"], form.cleaned_data["kind"])
    alias = Alias.objects.of(tenant).filter(kind=known.kind, value=known.name).first()
    if alias is not None:
        return redirect("admin:people_person_change", alias.person_id)
    told = tell_belongings(request, tenant, known.identity, known.name)
    return {"title": known.name, "known": known, **told}


@pages.admin_page(FORM, "Add a person", *SEES_PERSON, of_one_tenant=True)
def add_person(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    form = PersonForm(request.POST if request.method == "POST" else None)

    def add() -> HttpResponse:
        person = services.add_person(tenant=tenant, **form.cleaned_data)
        pages.record(request, person, "added them", is_new=True)
        return pages.redirect_to(person)

    return submit(form, add) or {"form": form}


@pages.admin_page(FORM, "Same person", *SEES_PERSON, posts=True)
def merge_people(request: HttpRequest, person_id: uuid.UUID, name: str) -> pages.Answer:
    """Merge a person, or undo that; with `preview`, show first what would move."""
    person, actor = pages.get_row(Person, person_id), request.user.get_username()
    named: dict[str, Any] = {"tenant": person.tenant, "person_id": person.id, "actor": actor}
    form: Any = ReasonForm(request.POST, prefix=name)
    title, act = "Undo a merge", partial(services.undo_merge, **named, now=timezone.now())
    if name == "merge":
        form = MergeForm(request.POST, prefix=name, person=person)
        title, act = "Same person", partial(services.merge, **named)
        sought = form["into_id"].value() if "preview" in request.POST else None
        into = Person.objects.of(person.tenant).filter(id__in=[read_id(sought or "")]).first()
        if into is not None:
            values = {"into_id": into, "reason": form["reason"].value()}
            form = MergeForm(initial=values, prefix=name, person=person)
            identity = queries.find_identity(person)
            belongings = queries.list_belongings(person.tenant, identity)
            told = count_belongings(person.tenant, identity, belongings)
            return {"title": title, "form": form, "person": person, "into": into, **told}
    done = submit(form, lambda: pages.redirect_to(act(**form.cleaned_data)))
    if done is not None:
        messages.success(request, "Done.")
    return done or {"title": title, "form": form, "person": person}


@pages.action_for(*EXPORTS)
def export_person(request: HttpRequest, person_id: uuid.UUID) -> HttpResponseBase:
    """Send all of a person's data as JSON lines, on record."""
    person = pages.get_row(Person, person_id)
    pages.record(request, person, "exported all that is theirs")
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
            query = {**query, "id__lt": page["next"]} if page["next"] else {}

"""The page of a person: names and ids, their data, merging, and export."""

import json
import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.edge.pages import PAGE_AT_MOST
from memoryproject.tenancy.models import Tenant
from retrieval.markdown import NO_FENCE
from retrieval.profile import ProfileRequest, draft_profile, of_user
from retrieval.profile_lines import EPISODES, HEADINGS
from semantic.models import Fact
from wings.console import pages
from wings.console.facts.forms import CURATE
from wings.console.forms import LinesField, ReasonForm, TextForm, submit
from wings.people import queries, services
from wings.people.api import KINDS, take_kind
from wings.people.models import Alias, Person
from wings.people.queries import Identity

FORM, KNOWN = "console/people/form.html", "console/people/known.html"
SHOWN_AT_MOST = 20
NAMES_AT_MOST = 50
NAME_AT_MOST = 255
SEES_PERSON = ("people.view_person", CURATE)
SEEN_BY = {
    "facts": "semantic.view_fact", "episodes": "episodic.view_episode",
    "answers": "retrieval.view_retrieval",
}  # fmt: skip
FACT_SECTIONS = tuple(name for name in HEADINGS if name != EPISODES)
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
        **tell_belongings(request, person.tenant, identity),
        "merged_into": queries.find_merge(person),
        "others": list(others.order_by("id")),
        "merge_form": MergeForm(prefix="merge", person=person),
        "unmerge_form": ReasonForm(prefix="unmerge"),
    }


def tell_belongings(request: HttpRequest, tenant: Tenant, identity: Identity) -> dict[str, Any]:
    """Return a person's names and ids, and their data, newest first."""
    sees, reader = request.user.has_perm, Reader(request.user)
    belongings = queries.list_belongings(tenant, identity)
    shown = {
        kind: list(reader.rows(belongings[kind]).order_by("-id")[:SHOWN_AT_MOST])
        for kind, permission in SEEN_BY.items()
        if sees(permission)
    }
    return {
        "identity": identity,
        "profile": find_profile(tenant, identity, reader) if sees(SEEN_BY["facts"]) else {},
        "talks_in": queries.conversations_shared(tenant, identity).count(),
        "counts": [(kind, rows.count()) for kind, rows in belongings.items()],
        "shown": shown,
        "shown_at_most": SHOWN_AT_MOST,
    }


def find_profile(tenant: Tenant, identity: Identity, reader: Reader) -> dict[str, list[Fact]]:
    """Return the facts of a person's profile by heading, without a receipt."""
    if not identity.user_ids:
        return {}
    scope = of_user(tenant, identity.user_ids[0])
    request = ProfileRequest(sections=FACT_SECTIONS)
    drafted = draft_profile(tenant, scope, request, NO_FENCE, now=timezone.now())
    ids = [line.hit.found.memory_id for line in drafted.lines]
    facts = reader.rows(Fact.objects.of(tenant).filter(id__in=ids)).in_bulk()
    return {
        HEADINGS[section].strip("# \n"): [facts[line.hit.found.memory_id] for line in lines]
        for section, lines in groupby(drafted.lines, key=attrgetter("section"))
    }


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
    told = tell_belongings(request, tenant, known.identity)
    return {"title": known.name, "known": known, **told}


@pages.admin_page(FORM, "Add a person", *SEES_PERSON, of_one_tenant=True)
def add_person(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    form = PersonForm(request.POST if request.method == "POST" else None)

    def add() -> HttpResponse:
        person = services.add_person(tenant=tenant, **form.cleaned_data)
        pages.record(request, person, "added them", is_new=True)
        return pages.redirect_to(person)

    return submit(form, add) or {"form": form}


@pages.admin_page(FORM, "Merge two people", *SEES_PERSON, posts=True)
def merge_people(request: HttpRequest, person_id: uuid.UUID, name: str) -> pages.Answer:
    person, actor = pages.get_row(Person, person_id), request.user.get_username()
    named: dict[str, Any] = {"tenant": person.tenant, "person_id": person.id, "actor": actor}
    form: Any = ReasonForm(request.POST, prefix=name)
    title, act = "Undo a merge", partial(services.undo_merge, **named, now=timezone.now())
    if name == "merge":
        form = MergeForm(request.POST, prefix=name, person=person)
        title, act = "Merge two people", partial(services.merge, **named)
        if "preview" in request.POST:
            named_id = read_id(form["into_id"].value() or "")
            into = Person.objects.of(person.tenant).filter(id__in=[named_id]).first()
            told = tell_belongings(request, person.tenant, queries.find_identity(person))
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

"""Results of the command palette: pages, rows by id, facts, conversations, recent pages."""

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from episodic.models import Conversation, Episode, Message
from episodic.naming import render_name, with_names
from episodic.revealing import Reader
from indexing import tenant_search
from indexing.models import UnitKind
from indexing.tenant_search import QUERY_AT_MOST, Scope
from jobs.models import Job
from memoryproject.adminkit import values
from memoryproject.adminkit.base import RECENT_KEY, read_id
from memoryproject.adminkit.site import list_places
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.models import Retrieval
from semantic.models import Changeset, Fact
from wings.console.pages import page_for
from wings.console.search.page import show_search
from wings.console.search.results import restrict_matches
from wings.notes.models import Note
from wings.people.models import Alias
from wings.people.queries import find_known

A_KIND, RANKED = 5, 100
"""Number of results of each kind, and of the newest matches from which they are chosen."""
BY_ID: tuple[Any, ...] = (
    Conversation, Fact, Episode, Note, Message, Retrieval, Changeset, Job, APIKey, Tenant,
)  # fmt: skip


class Item(NamedTuple):
    """One result: its address and text."""

    title: str
    about: str
    link: str
    icon: str = "arrow_forward"


def search_or_palette(request: HttpRequest) -> HttpResponseBase:
    """Answer the theme's palette, which calls this with `extended`; open an id's row, or search."""
    if "extended" in request.GET:
        return show_palette(request)
    named = read_id(request.GET.get("q", "").strip())
    row = next(find_rows(request, named), None) if named else None
    return redirect(row.link) if row else show_search(request)


@page_for()
def show_palette(request: HttpRequest) -> HttpResponse:
    """Show results for the words, as permitted; without words, the recent pages."""
    typed = request.GET.get("s", "").replace("\x00", " ").strip()[:QUERY_AT_MOST]
    items = list(find_items(request, typed)) if typed else list_recent(request)
    return render(request, "console/palette/results.html", {"items": items, "typed": typed})


def find_items(request: HttpRequest, typed: str) -> Iterator[Item]:
    """Yield pages, the row of an id, then people, facts and conversations by words."""
    yield from find_pages(request, typed)
    named = read_id(typed)
    if named is not None:
        yield from find_rows(request, named)
        return
    if request.user.has_perm("people.view_person"):
        yield from find_people(typed)
    if request.user.has_perm("semantic.view_fact"):
        yield from _find_facts(typed)
    if request.user.has_perm("episodic.view_conversation"):
        yield from _find_conversations(typed, Reader(request.user))


def find_pages(request: HttpRequest, typed: str) -> Iterator[Item]:
    """Yield the menu's entries with the words in the title that the person may open."""
    entries = [(entry, place.title) for place in list_places() for entry in place.entries]
    entries += [(entry.make, "a form") for entry, _ in entries if entry.make]
    for entry, about in entries:
        if entry.is_for(request.user) and typed.casefold() in entry.title.casefold():
            yield Item(entry.title, about, entry.address, entry.icon)


def find_rows(request: HttpRequest, named: uuid.UUID) -> Iterator[Item]:
    """Yield the rows that have this id, ours or the agent's, in tables that the person may see."""
    for model in BY_ID:
        if not request.user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}"):
            continue
        is_named = Q(id=named) | Q(external_id=named) if model is Conversation else Q(id=named)
        rows = getattr(model, "across_tenants", model._default_manager)
        for row in Reader(request.user).rows(rows.filter(is_named))[:A_KIND]:
            yield _item_of(row)


def list_recent(request: HttpRequest) -> list[Item]:
    """Return the rows whose pages the person opened last, newest first."""
    items = []
    for label, row_id in request.session.get(RECENT_KEY, []):
        model: Any = apps.get_model(label)
        shown_by = admin.site.get_model_admin(model)
        row = shown_by.get_queryset(request).filter(pk=row_id).first()
        if row is not None and shown_by.has_view_permission(request, row):
            items.append(_item_of(row))
    return items


def _item_of(row: Any) -> Item:
    return Item(values.short(row), str(row._meta.verbose_name), values.page_address(row), "history")


def _scope() -> Scope:
    """Return the one visible tenant; None: all visible ones."""
    return Scope(tenant_id=read_id(walls.get_seen()))


def find_people(typed: str, *, at_most: int = A_KIND) -> Iterator[Item]:
    """Yield people by a name or id, and users known only by an id."""
    for one in find_known(read_id(walls.get_seen()), typed, at_most=at_most):
        address = reverse("console:person_known")
        query = urlencode({"tenant": one.tenant.name, "kind": one.kind, "value": one.name})
        about = Alias.Kind(one.kind).label if one.kind else "person"
        link = f"{address}?{query}"
        if not one.kind:
            link = reverse("admin:people_person_change", args=[one.person_id])
        yield Item(one.name, f"{about}, {one.tenant.name}", link, "person")


def _find_facts(typed: str) -> Iterator[Item]:
    sought = tenant_search.read_query(typed)
    matches = tenant_search.find(sought, kind=UnitKind.FACT, scope=_scope(), pool=RANKED).found
    rows = Fact.across_tenants.in_bulk([match.memory_id for match in matches[: 4 * A_KIND]])
    for fact in [rows[match.memory_id] for match in matches if match.memory_id in rows][:A_KIND]:
        about = f"{fact.category}, {fact.invalidated_because or 'active'}"
        yield Item(fact.fact, about, values.page_address(fact), "lightbulb")


def _find_conversations(typed: str, reader: Reader) -> Iterator[Item]:
    """Yield conversations with messages that have the words, or a speaker of that name."""
    sought = tenant_search.read_query(typed)
    found = tenant_search.find(sought, kind=UnitKind.MESSAGE, scope=_scope(), pool=RANKED).found
    ids = {match.conversation_id: None for match in restrict_matches(found, reader)}
    rows: Any = with_names(Conversation.across_tenants.filter(id__in=list(ids)[: 4 * A_KIND]))
    for row in rows.order_by("-id")[:A_KIND]:
        name = render_name(row, may_read=reader.may_read(row.id))
        about = f"conversation, {values.moment(row.last_at)}"
        yield Item(name, about, values.page_address(row), "forum")

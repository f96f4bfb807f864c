"""The search page: facts, episodes, notes and messages of a tenant by their words."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode

from console.forms import ConversationField, WordsField
from console.pages import choose_tenant, page_for, show_page
from console.search.results import CLOSED, HELD, Group, SearchParams, find_group
from console.search.saved_filters import filters_for
from episodic.models import Conversation
from episodic.revealing import Reader
from indexing.models import UnitKind
from indexing.tenant_search import QUERY_AT_MOST, Scope, read_query
from memoryproject.tenancy.models import Tenant

SEEN_BY = ("semantic.view_fact", "episodic.view_episode", "episodic.view_message")
KINDS = (UnitKind.FACT, UnitKind.EPISODE, UnitKind.NOTE, UnitKind.MESSAGE)
SEES_NOTES = "notes.view_note"
A_GROUP, A_PAGE = 6, 20
"""Results of each kind where all are shown, and of one kind alone."""


class SearchForm(forms.Form):
    """What to look for, and where."""

    q = WordsField(required=False, max_length=QUERY_AT_MOST, label="Words")
    kind = forms.ChoiceField(
        required=False,
        label="In",
        choices=[("", "everything"), *((kind.value, f"{kind.value}s") for kind in KINDS)],
    )
    state = forms.ChoiceField(
        required=False,
        label="Facts that are",
        choices=[("", "active or retired"), (HELD, "active"), (CLOSED, "retired")],
    )
    conversation = ConversationField(required=False, label="Conversation")
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000)


@page_for(*SEEN_BY)
def show_search(request: HttpRequest) -> HttpResponse:
    """Show the form and what it finds in one tenant."""
    tenant = choose_tenant(request)
    form = SearchForm(request.GET)
    groups: list[Group] = []
    unknown = False
    page = 1
    if form.is_valid() and tenant is not None and form.cleaned_data["q"]:
        page = form.cleaned_data["page"] or 1
        search = _read_params(form.cleaned_data, tenant)
        unknown = search is None
        kind, reader = form.cleaned_data["kind"], Reader(request.user)
        groups = _find(search, kind, page, reader, _kinds_for(request)) if search else []
    return show_page(
        request,
        "console/search/search.html",
        title="Search",
        form=form,
        tenant=tenant,
        groups=groups,
        total=sum(group.total + len(group.unprocessed) for group in groups),
        unknown=unknown,
        one_kind=form.is_valid() and bool(form.cleaned_data["kind"]),
        turns=_turns(request, groups, page),
        wider={kind.value: _address(request, kind=kind.value, page="") for kind in KINDS},
        saved=filters_for(request.user.get_username()),
        path=request.get_full_path(),
    )


def _read_params(fields: dict[str, Any], tenant: Tenant) -> SearchParams | None:
    """Return what is looked for; None: there is no such conversation."""
    conversation = None
    if fields["conversation"] is not None:
        conversation = find_conversation(tenant, fields["conversation"])
        if conversation is None:
            return None
    last = fields["until"]
    day_after = last + timedelta(days=1) if last and last < date.max else None
    scope = Scope(
        tenant_id=tenant.id,
        conversation_id=conversation.id if conversation else None,
        since=_midnight(fields["since"]),
        until=_midnight(day_after),
    )
    return SearchParams(read_query(fields["q"]), scope, fields["state"])


def find_conversation(tenant: Tenant, named: uuid.UUID) -> Conversation | None:
    """Return the tenant's conversation of that id, the agent's or ours."""
    rows = Conversation.objects.of(tenant)
    return rows.filter(external_id=named).first() or rows.filter(id=named).first()


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time.min, tzinfo=UTC) if day else None


def _kinds_for(request: HttpRequest) -> list[UnitKind]:
    """Return what the person may find; who opens the page may see all that is no note."""
    sees_notes = request.user.has_perm(SEES_NOTES)
    return [kind for kind in KINDS if kind is not UnitKind.NOTE or sees_notes]


def _find(
    params: SearchParams, kind: str, page: int, reader: Reader, kinds: Sequence[UnitKind]
) -> list[Group]:
    first, at_most = ((page - 1) * A_PAGE, A_PAGE) if kind else (0, A_GROUP)
    chosen = [name for name in kinds if not kind or name == kind]
    return [
        find_group(name, params, reader=reader, first=first, at_most=at_most) for name in chosen
    ]


def _turns(request: HttpRequest, groups: list[Group], page: int) -> dict[str, str]:
    """Return where newer and older pages are; of several kinds there is one page."""
    if len(groups) != 1:
        return {}
    turns = {}
    if page > 1:
        turns["previous"] = _address(request, page=page - 1)
    if page * A_PAGE < groups[0].total:
        turns["next"] = _address(request, page=page + 1)
    return turns


def _address(request: HttpRequest, **changed: Any) -> str:
    """Return this page's address with some fields changed."""
    fields = {**request.GET.dict(), **changed}
    return "?" + urlencode({name: value for name, value in fields.items() if value})

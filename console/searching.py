"""The search over everything of a tenant, and the page that shows what it found."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode

from console.findings import CLOSED, HELD, Group, Wish, find_group
from console.pages import choose_tenant, page_for, show_page
from console.saving import filters_for
from episodic.models import Conversation
from episodic.revealing import Reader
from indexing.models import UnitKind
from indexing.tenant_search import QUERY_AT_MOST, Scope, read_query
from memoryproject.admin_base import read_id
from memoryproject.tenancy.models import Tenant

SEEN_BY = ("semantic.view_fact", "episodic.view_episode", "episodic.view_message")
KINDS = (UnitKind.FACT, UnitKind.EPISODE, UnitKind.NOTE, UnitKind.MESSAGE)
SEES_NOTES = "notes.view_note"
A_GROUP, A_PAGE = 6, 20
"""Results of each kind where all are shown, and of one kind alone."""


class SearchForm(forms.Form):
    """What to look for, and where."""

    q = forms.CharField(required=False, max_length=QUERY_AT_MOST, label="Words")
    kind = forms.ChoiceField(
        required=False,
        label="In",
        choices=[("", "everything"), *((kind.value, f"{kind.value}s") for kind in KINDS)],
    )
    state = forms.ChoiceField(
        required=False,
        label="Facts that are",
        choices=[("", "held or not"), (HELD, "held"), (CLOSED, "no longer held")],
    )
    conversation = forms.CharField(required=False, label="Conversation")
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000)

    def clean_q(self) -> str:
        """Postgres takes no NUL."""
        return str(self.cleaned_data["q"]).replace("\x00", " ").strip()

    def clean_conversation(self) -> uuid.UUID | None:
        """Take the whole id of a conversation, the agent's or ours."""
        written = self.cleaned_data["conversation"]
        if written and read_id(written) is None:
            raise forms.ValidationError("Give the whole id, as the agent uses it.")
        return read_id(written)


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
        wish = _read_wish(form.cleaned_data, tenant)
        unknown = wish is None
        kind, reader = form.cleaned_data["kind"], Reader(request.user)
        groups = _find(wish, kind, page, reader, _kinds_for(request)) if wish else []
    return show_page(
        request,
        "console/search.html",
        title="Search",
        form=form,
        tenant=tenant,
        tenants=list(Tenant.objects.order_by("name").values_list("name", flat=True)[:200]),
        groups=groups,
        total=sum(group.total + len(group.waiting) for group in groups),
        unknown=unknown,
        one_kind=form.is_valid() and bool(form.cleaned_data["kind"]),
        turns=_turns(request, groups, page),
        wider={kind.value: _address(request, kind=kind.value, page="") for kind in KINDS},
        saved=filters_for(request.user.get_username()),
        path=request.get_full_path(),
    )


def _read_wish(given: dict[str, Any], tenant: Tenant) -> Wish | None:
    """Return what is looked for; None: there is no such conversation."""
    conversation = None
    if given["conversation"] is not None:
        conversation = find_conversation(tenant, given["conversation"])
        if conversation is None:
            return None
    last = given["until"]
    day_after = last + timedelta(days=1) if last and last < date.max else None
    scope = Scope(
        tenant_id=tenant.id,
        conversation_id=conversation.id if conversation else None,
        since=_midnight(given["since"]),
        until=_midnight(day_after),
    )
    return Wish(read_query(given["q"]), scope, given["state"])


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
    wish: Wish, kind: str, page: int, reader: Reader, kinds: Sequence[UnitKind]
) -> list[Group]:
    if not kind:
        return [find_group(one, wish, reader=reader, first=0, at_most=A_GROUP) for one in kinds]
    first = (page - 1) * A_PAGE
    return [
        find_group(one, wish, reader=reader, first=first, at_most=A_PAGE)
        for one in kinds
        if one == kind
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

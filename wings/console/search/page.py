"""The search page: facts, episodes, notes and messages by words."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest

from episodic.revealing import Reader
from indexing.models import UnitKind
from indexing.tenant_search import POOL, QUERY_AT_MOST, Scope, read_query
from memoryproject.tenancy.membership import looking_at
from memoryproject.tenancy.models import Tenant
from wings.console.forms import ConversationField, TextForm, WordsField
from wings.console.labels import find_conversation, set_names
from wings.console.pages import Answer, admin_page, choose_tenant, read_choice
from wings.console.search.results import CLOSED, HELD, Group, SearchParams, find_group
from wings.people.queries import Known, find_known

SEEN_BY = ("semantic.view_fact", "episodic.view_episode", "episodic.view_message")
KINDS = (UnitKind.FACT, UnitKind.EPISODE, UnitKind.NOTE, UnitKind.MESSAGE)
SEES_NOTES = "notes.view_note"
TENANTS_SEARCHED = 25
"""Number of other tenants that are searched, the first by name."""
A_GROUP, A_PAGE = 6, 20
"""Number of results of each kind if all kinds are shown, and of a single kind."""
POOL_OF_GROUP, POOL_ELSEWHERE = 150, 50
"""Number of matches ranked per kind if all kinds are shown, and counted in other tenants."""


class SearchForm(TextForm):
    q = WordsField(required=False, max_length=QUERY_AT_MOST, label="Words")
    kind = forms.ChoiceField(
        required=False,
        choices=[("", "everything"), *((kind.value, f"{kind.value}s") for kind in KINDS)],
    )
    state = forms.ChoiceField(
        required=False, choices=[("", "active or retired"), (HELD, "active"), (CLOSED, "retired")]
    )
    conversation = ConversationField(required=False, label="Conversation")
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000)


@admin_page("console/search/search.html", "Search", *SEEN_BY)
def show_search(request: HttpRequest) -> Answer:
    """Show the form, results in the selected tenant, and the number of matches in others."""
    tenant = choose_tenant(request)
    form = SearchForm(request.GET)
    params = form.cleaned_data if form.is_valid() else {}
    words, page = params.get("q"), params.get("page") or 1
    search = _read_params(params, tenant) if words and tenant else None
    kind = params.get("kind", "")
    first, at_most, pool = (
        ((page - 1) * A_PAGE, A_PAGE, POOL) if kind else (0, A_GROUP, POOL_OF_GROUP)
    )
    groups = _find(request, search, kind, first, at_most, pool) if search else []
    results = chain.from_iterable((*group.results, *group.unprocessed) for group in groups)
    set_names(results, Reader(request.user))
    return {
        "form": form,
        "tenant": tenant,
        "groups": groups,
        "people": _find_people(request, tenant, words) if words and tenant and page == 1 else [],
        "elsewhere": count_elsewhere(request, params) if words and page == 1 else [],
        "tenants_searched": TENANTS_SEARCHED,
        "total": sum(group.total + len(group.unprocessed) for group in groups),
        "unknown": bool(words and tenant and search is None),
        "one_kind": bool(kind),
        "page": page,
        "has_more": len(groups) == 1 and page * A_PAGE < groups[0].total,
    }


def _find_people(request: HttpRequest, tenant: Tenant, words: str) -> list[Known]:
    may = request.user.has_perm("people.view_person")
    return find_known(tenant.id, words, at_most=A_GROUP) if may else []


def count_elsewhere(request: HttpRequest, fields: dict[str, Any]) -> list[tuple[Tenant, str]]:
    """Return the number of matches in the person's other tenants, by the rights there."""
    counts = []
    person = cast(User, request.user)
    current = choose_tenant(request)
    others = [tenant for tenant in read_choice(request).offered if tenant != current]
    for tenant in others[:TENANTS_SEARCHED]:
        with looking_at(person, tenant):
            params = _read_params(fields, tenant) if person.has_perms(SEEN_BY) else None
            groups = _find(request, params, fields["kind"], 0, 0, POOL_ELSEWHERE) if params else []
        total = sum(group.total + len(group.unprocessed) for group in groups)
        if total:
            more = "" if all(group.complete for group in groups) else "+"
            counts.append((tenant, f"{total:,}{more}"))
    return counts


def _read_params(fields: dict[str, Any], tenant: Tenant) -> SearchParams | None:
    """Return the search; None: its conversation does not exist."""
    conversation = None
    if fields["conversation"] is not None:
        conversation = find_conversation(fields["conversation"], tenant)
        if conversation is None or conversation.tenant != tenant:
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


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time.min, tzinfo=UTC) if day else None


def _find(
    request: HttpRequest, params: SearchParams, kind: str, first: int, at_most: int, pool: int
) -> list[Group]:
    """Return the results; people who may open the page may see all but notes."""
    sees_notes, reader = request.user.has_perm(SEES_NOTES), Reader(request.user)
    return [
        find_group(name, params, reader=reader, first=first, at_most=at_most, pool=pool)
        for name in KINDS
        if kind in {"", name.value} and (sees_notes or name is not UnitKind.NOTE)
    ]

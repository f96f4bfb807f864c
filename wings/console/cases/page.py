"""Pages of the case file: find an answer, explain it, and turn it into a memory test."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from episodic.queries import get_by_external_id
from episodic.revealing import Reader
from indexing.tenant_search import QUERY_AT_MOST
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import link_to_memory
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy.models import Tenant
from retrieval.models import MemoryTest, Retrieval, RetrievalHit
from retrieval.request import TENANT, USER
from wings.console import pages
from wings.console.cases import search
from wings.console.cases.case import Case
from wings.console.cases.case_json import render_case
from wings.console.cases.search import Hint
from wings.console.facts.forms import CURATE
from wings.console.forms import ConversationField, LinesField, TextForm, WordsField, submit
from wings.console.labels import find_conversation, name_conversations, name_memories
from wings.console.playground import page as playground
from wings.memory_tests import memory_tests
from wings.memory_tests.memory_tests import TEXT_AT_MOST, TEXTS_AT_MOST

HITS_AT_MOST = 200
MOMENTS = ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S"]
SEES_TEST = ("retrieval.view_memorytest", CURATE)


class CaseForm(TextForm):
    phrase = WordsField(required=False, max_length=QUERY_AT_MOST)
    memory = forms.UUIDField(required=False)
    conversation = ConversationField(required=False)
    since = forms.DateTimeField(required=False, input_formats=MOMENTS)
    until = forms.DateTimeField(required=False, input_formats=MOMENTS)

    def clean_until(self) -> datetime | None:
        """Return the end of the given day or minute."""
        until: datetime | None = self.cleaned_data["until"]
        if until is None or until.year == datetime.max.year:
            return until
        is_day = len(str(self["until"].value()).strip()) == len("2026-03-03")
        return until + (timedelta(days=1) if is_day else timedelta(minutes=1))


class MemoryTestForm(TextForm):
    must_say = LinesField(TEXTS_AT_MOST, TEXT_AT_MOST)
    must_not_say = LinesField(TEXTS_AT_MOST, TEXT_AT_MOST)
    at_most_tokens = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)


class NewTestForm(MemoryTestForm):
    query = forms.CharField(max_length=QUERY_AT_MOST)
    conversation = ConversationField()
    field_order = ("query", "conversation")


@pages.admin_page("console/cases/entry.html", "Why did it say that?", *pages.SEES_CASE)
def show_entry(request: HttpRequest) -> pages.Answer:
    """Show the form and the candidates; a receipt's id leads to its case."""
    form = CaseForm(request.GET)
    candidates: list[Any] = []
    unknown = ""
    tenant = pages.choose_tenant(request)
    if form.is_valid():
        params = form.cleaned_data
        named = params["memory"] or read_id(params["phrase"])
        if named and Retrieval.across_tenants.filter(id=named).exists():
            return redirect("console:case", named)
        is_anywhere = tenant is None and not (named or params["conversation"])
        if is_anywhere and pages.read_choice(request).offered:
            return pages.ask_for_tenant(request)
        hint = _read_hint(params, tenant, named)
        if hint is None:
            unknown = "There is nothing of that id."
        else:
            tenant = hint.tenant
            candidates = search.find_candidates(hint, reader=Reader(request.user))
    return {
        "form": form,
        "tenant": tenant,
        "candidates": candidates,
        "unknown": unknown,
        "asked": any(form[name].value() for name in form.fields),
    }


def _read_hint(
    params: dict[str, Any], tenant: Tenant | None, named: uuid.UUID | None
) -> Hint | None:
    """Return the search, in the tenant that owns the named id; None: nobody does."""
    conversation = params["conversation"] or named
    home = find_conversation(conversation, tenant) if conversation else None
    owner = tenant
    if home is not None:
        owner = home.tenant
    elif params["conversation"]:
        owner = None
    elif named is not None:
        owner = search.find_owner(named)
    if owner is None:
        return None
    is_home = home is not None and named in {home.id, home.external_id}
    phrase = params["phrase"] if named is None else ""
    home_id, memory_id = home.id if home else None, None if is_home else named
    return Hint(owner, home_id, params["since"], params["until"], phrase, memory_id)


@pages.admin_page("console/cases/case.html", "Case file", *pages.SEES_CASE)
def show_case(request: HttpRequest, retrieval_id: uuid.UUID) -> pages.Answer:
    """Show the explanation of one answer; with `format=json`, as a file."""
    retrieval = pages.get_row(Retrieval, retrieval_id, "conversation", "asked_by")
    home, reader = retrieval.conversation, Reader(request.user)
    case = Case(retrieval, reader=reader)
    if request.GET.get("format") == "json":
        return JsonResponse(
            render_case(case),
            json_dumps_params={"indent": 2, "ensure_ascii": False},
            headers={
                "Content-Disposition": f'attachment; filename="case-{retrieval.id}.json"',
                "Cache-Control": "private, no-store",
            },
        )
    return {
        "case": case,
        "retrieval": retrieval,
        "conversation": home,
        "reader": reader,
        "place": name_conversations([home.id], reader)[home.id] if home else "",
        "searched": _name_scope(retrieval),
        "permalink": request.build_absolute_uri(reverse("console:case", args=[retrieval.id])),
        "parameters": sorted(retrieval.parameters.items()),
        "test_form": MemoryTestForm(prefix="test"),
    }


def _name_scope(retrieval: Retrieval) -> str:
    """Return what was searched beside one conversation; empty if nothing was."""
    scope, user_id = map(retrieval.parameters.get, ("scope", "user_id"))
    if scope == USER or retrieval.kind == Retrieval.Kind.PROFILE:
        return f"the conversations of {user_id or 'one user'}"
    return "all conversations of the tenant" if scope == TENANT else ""


def get_receipt_story(request: HttpRequest, retrieval: Retrieval) -> dict[str, Any]:
    """Return what an answer served, and the address that asks its question again."""
    hits = RetrievalHit.objects.of(retrieval.tenant).filter(retrieval=retrieval)
    served = list(hits.order_by("memory_kind", "rank", "id")[:HITS_AT_MOST])
    ids = [hit.memory_id for hit in served]
    named = name_memories(tenant=retrieval.tenant, memory_ids=ids, reader=Reader(request.user))
    labels = {memory_id: row.label for memory_id, row in named.items()}
    return {
        "title": retrieval.query,
        "subtitle": "",
        "again": _link_to_playground(retrieval),
        "served": [
            (hit, link_to_memory(hit.memory_kind, hit.memory_id, labels.get(hit.memory_id)))
            for hit in served
        ],
    }


def _link_to_playground(retrieval: Retrieval) -> str:
    parameters = retrieval.parameters
    names = [*playground.WORDS, *playground.NUMBERS]
    query = {
        "tenant": retrieval.tenant.name,
        "kind": "context" if retrieval.kind == Retrieval.Kind.CONTEXT else "retrieve",
        **{name: parameters[name] for name in names if parameters.get(name) is not None},
        "query": retrieval.query,
        "known_at": parameters.get("known_at") or retrieval.created_at.isoformat(),
    }
    return f"{reverse('console:playground')}?{urlencode(query)}"


@pages.admin_page(
    pages.FORM, "Turn this case into a test", *pages.SEES_CASE, *SEES_TEST, posts=True
)
def create_test(request: HttpRequest, retrieval_id: uuid.UUID) -> pages.Answer:
    of_one = {"conversation__isnull": False}
    retrieval = pages.get_row(Retrieval, retrieval_id, "conversation", **of_one)
    form = MemoryTestForm(request.POST, prefix="test")

    def create() -> HttpResponse:
        test = MemoryTest(
            tenant=retrieval.tenant,
            conversation=retrieval.conversation,
            query=retrieval.query,
            max_tokens=retrieval.parameters.get("max_tokens"),
            case_id=retrieval.id,
            made_by=request.user.get_username(),
            **form.cleaned_data,
        )
        return _add_test(request, test)

    back = reverse("console:case", args=[retrieval.id])
    return submit(form, create) or {"form": form, "back": back}


@pages.admin_page(pages.FORM, "Make a memory test", *SEES_TEST, of_one_tenant=True)
def make_test(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    form = NewTestForm(request.POST if request.method == "POST" else None)

    def create() -> HttpResponse:
        params = {**form.cleaned_data, "made_by": request.user.get_username()}
        params["conversation"] = get_by_external_id(tenant, params["conversation"])
        return _add_test(request, MemoryTest(tenant=tenant, **params))

    back = reverse("admin:retrieval_memorytest_changelist")
    return submit(form, create) or {"form": form, "back": back}


def _add_test(request: HttpRequest, test: MemoryTest) -> HttpResponse:
    memory_tests.create_test(test)
    pages.record(request, test, "made it", is_new=True)
    return pages.redirect_to(test)


@pages.action_for(*SEES_TEST)
def change_test(request: HttpRequest, test_id: uuid.UUID, name: str) -> HttpResponse:
    test = pages.get_row(MemoryTest, test_id, "conversation")
    if name == "delete":
        pages.record(request, test, "deleted it")
        test.delete()
        messages.success(request, "Deleted.")
        return redirect("admin:retrieval_memorytest_changelist")
    with pages.show_problems(request):
        memory_tests.run_tests([test], now=read_database_clock())
    return pages.redirect_to(test)


def get_test_story(request: HttpRequest, test: MemoryTest) -> dict[str, Any]:
    verdicts = {
        name: [
            (text, f"{name}.{place}" not in test.failures)
            for place, text in enumerate(getattr(test, name))
        ]
        for name in ("must_say", "must_not_say")
    }
    return {**verdicts, "is_short": "at_most_tokens" not in test.failures}

"""Retiring, restoring and correcting facts, one or many, and reverting a changeset."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import lines, link, page_address
from memoryproject.edge.errors import Problem
from semantic import corrections, curation, reverts
from semantic.curation import Act
from semantic.engines import Category
from semantic.models import Changeset, Fact
from wings.console.facts import forms
from wings.console.facts.forms import CURATE, ActForm
from wings.console.forms import ReasonForm, submit
from wings.console.highlights import show_difference
from wings.console.labels import set_names
from wings.console.pages import Answer, admin_page, find_way_back, get_row, redirect_to, show_page

SEES_FACT = ("semantic.view_fact", CURATE)
SEES_CHANGESET = ("semantic.view_changeset", CURATE)


FORMS: dict[str, tuple[type[ActForm], str]] = {
    "invalidate": (forms.InvalidateForm, "Retire a fact"),
    "restore": (ActForm, "Restore a fact"),
    "correct": (forms.CorrectForm, "Correct a fact"),
}
"""Form and title of each action, by its name in the address."""
FORMS_OF_MANY: dict[str, tuple[type[ReasonForm], str]] = {
    "invalidate": (forms.BecauseForm, "Retire facts"),
    "restore": (ReasonForm, "Restore facts"),
}
NAMED_AT_MOST = 10


@admin_page("console/facts/act.html", "Change a fact", *SEES_FACT)
def change_fact(request: HttpRequest, fact_id: uuid.UUID, name: str) -> Answer:
    """Do the form's action and go to the fact; with `preview`, or errors, show the form again."""
    fact = get_row(Fact, fact_id, "conversation")
    if request.method != "POST":
        return redirect_to(fact, anchor=f"#{name}")
    form_class, title = FORMS[name]
    form = form_class(request.POST, prefix=name)
    preview, actor = "preview" in request.POST, request.user.get_username()

    def act() -> HttpResponse:
        shown, changeset = do(name, actor, fact, form.cleaned_data)
        return redirect_to(shown, query=f"?done={changeset.id}")

    sentence = form.data.get(form.add_prefix("fact"), "")
    return (None if preview else submit(form, act)) or {
        "title": title,
        "status": 200 if preview else None,
        "form": form,
        "fact": fact,
        "name": name,
        "difference": show_difference(fact.fact, " ".join(sentence.split())) if sentence else "",
        "has_changed": form.data.get(form.add_prefix("version")) != str(fact.version),
    }


def do(name: str, actor: str, fact: Fact, params: dict[str, Any]) -> tuple[Fact, Changeset]:
    """Do the action; return the fact to show, and the changeset."""
    act = Act(fact.tenant, actor, params["reason"], params["case_id"])
    if name == "correct":
        follows = params["keywords"] == fact.keywords and params["fact"] != fact.fact
        opened = corrections.correct_fact(
            act=act,
            fact_id=fact.id,
            sentence=params["fact"],
            category=Category(params["category"]),
            keywords=None if follows else params["keywords"],
            version=params["version"],
        )
        return opened, opened.changeset
    changesets = do_to_facts(name, act, {fact.id: params["version"]}, params)
    return fact, changesets[0]


def do_to_facts(
    name: str, act: Act, versions: Mapping[uuid.UUID, int], params: Mapping[str, Any]
) -> list[Changeset]:
    """Retire or restore facts of one tenant, in the versions that the person has seen."""
    if name == "restore":
        return curation.restore_facts(act=act, fact_ids=list(versions), versions=versions)
    because = Fact.Because(params["because"])
    return curation.invalidate_facts(
        act=act, fact_ids=list(versions), because=because, versions=versions
    )


@admin_page("console/facts/revert.html", "Undo a changeset", *SEES_CHANGESET)
def revert_changeset(request: HttpRequest, changeset_id: uuid.UUID) -> Answer:
    """Preview the revert of a changeset, and do it once a reason is given."""
    changeset = get_row(Changeset, changeset_id, "conversation")
    plan = reverts.plan_revert(tenant=changeset.tenant, changeset_id=changeset.id)
    form = forms.RevertForm(
        request.POST if request.method == "POST" else None,
        prefix="undo" if "undo-reason" in request.POST else "revert",
        conflicts=bool(plan.conflicts),
    )

    def act() -> HttpResponse:
        revert = reverts.revert_changeset(
            act=Act(changeset.tenant, request.user.get_username(), form.cleaned_data["reason"]),
            changeset_id=changeset.id,
            leave_conflicts=form.cleaned_data.get("leave_conflicts", False),
        )
        messages.success(request, "Undone. This changeset is on record, and can be undone, too.")
        return redirect(find_way_back(request, otherwise=page_address(revert)))

    return submit(form, act) or {"form": form, "changeset": changeset, "plan": plan}


class Choice(NamedTuple):
    """The selected facts, and those of them that the action applies to."""

    name: str
    facts: Sequence[Fact]
    versions: Mapping[uuid.UUID, int]
    left_out: Sequence[Fact]
    is_cut: bool

    @property
    def closes(self) -> bool:
        return self.name == "invalidate"


@admin.action(description="Retire …", permissions=["curate"])
def invalidate_selected(_: Any, request: HttpRequest, queryset: QuerySet[Fact]) -> HttpResponse:
    return _preview(request, "invalidate", queryset)


@admin.action(description="Restore …", permissions=["curate"])
def restore_selected(_: Any, request: HttpRequest, queryset: QuerySet[Fact]) -> HttpResponse:
    return _preview(request, "restore", queryset)


def _preview(request: HttpRequest, name: str, queryset: QuerySet[Fact]) -> HttpResponse:
    form_class, title = FORMS_OF_MANY[name]
    shown = _show_choice(request, choose(name, queryset), form_class())
    return show_page(request, "console/facts/act_many.html", title=title, **shown)


def choose(
    name: str, queryset: QuerySet[Fact], versions: Mapping[uuid.UUID, int] | None = None
) -> Choice:
    """Return which of the selected facts an action applies to, and which are left out.

    `versions` are those that the person has seen; without them, the current ones.
    """
    rows = queryset.select_related("tenant", "conversation").order_by("id")
    marked = list(rows[: settings.FACTS_AT_ONCE + 1])
    fit: list[Fact] = []
    left_out: list[Fact] = []
    for fact in marked[: settings.FACTS_AT_ONCE]:
        (fit if _fits(fact, closes=name == "invalidate") else left_out).append(fact)
    seen = {fact.id: fact.version for fact in fit} if versions is None else versions
    return Choice(name, fit, seen, left_out, is_cut=len(marked) > settings.FACTS_AT_ONCE)


def _fits(fact: Fact, *, closes: bool) -> bool:
    if closes:
        return fact.invalid_at is None
    barred = {Fact.Because.ERASED, *Fact.HIDDEN}
    return fact.invalid_at is not None and fact.invalidated_because not in barred


@admin_page("console/facts/act_many.html", "Change facts", *SEES_FACT, posts=True)
def change_facts(request: HttpRequest, name: str) -> Answer:
    """Retire or restore the facts of the preview, or show it again with the errors."""
    versions = read_versions(request.POST.get("facts", ""))
    choice = choose(name, Fact.across_tenants.filter(id__in=versions), versions)
    form_class, title = FORMS_OF_MANY[name]
    form = form_class(request.POST)

    def act() -> HttpResponse:
        changesets = act_on_all(choice, form.cleaned_data, request.user.get_username())
        messages.success(request, _name_changesets(choice, changesets))
        return redirect("admin:semantic_fact_changelist")

    return submit(form, act) or {"title": title, **_show_choice(request, choice, form)}


def read_versions(marked: str) -> dict[uuid.UUID, int]:
    """Return ids and versions of the preview's facts; invalid entries are ignored.

    They are in one field, since a form may have at most a thousand.
    """
    versions: dict[uuid.UUID, int] = {}
    for text in marked.split(",", settings.FACTS_AT_ONCE + 1)[: settings.FACTS_AT_ONCE + 1]:
        id_text, _, version = text.partition(":")
        fact_id = read_id(id_text)
        if fact_id is not None and version.isascii() and version.isdecimal():
            versions[fact_id] = int(version[:9])
    return versions


def act_on_all(choice: Choice, params: Mapping[str, Any], actor: str) -> list[Changeset]:
    """Retire or restore facts of any tenants, all or none; raise Problem if one is refused."""
    if not choice.facts and not choice.versions:
        raise Problem("No fact was chosen: mark some in the list.")
    if len(choice.facts) < len(choice.versions) or choice.is_cut:
        raise Problem("Some of them have changed meanwhile: nothing was done. Mark them again.")
    changesets: list[Changeset] = []
    with transaction.atomic():
        for tenant in sorted({fact.tenant for fact in choice.facts}, key=lambda row: row.pk):
            theirs = [fact.id for fact in choice.facts if fact.tenant == tenant]
            seen = {fact_id: choice.versions[fact_id] for fact_id in theirs}
            act = Act(tenant, actor, params["reason"])
            changesets += do_to_facts(choice.name, act, seen, params)
    return changesets


def _name_changesets(choice: Choice, changesets: Sequence[Changeset]) -> SafeString:
    count = len(choice.facts)
    done = "retired" if choice.closes else "restored"
    named = [
        link(one, f"the changeset of {one.conversation}") for one in changesets[:NAMED_AT_MOST]
    ]
    return lines([f"{count} fact{'s' * (count != 1)} {done}. To undo it, revert:", *named])


def _show_choice(request: HttpRequest, choice: Choice, form: ReasonForm) -> dict[str, Any]:
    """Return the values of the preview; `marked` is what `read_versions` reads."""
    set_names(choice.facts, Reader(request.user))
    marked = ",".join(f"{fact.id}:{choice.versions[fact.id]}" for fact in choice.facts)
    return {"choice": choice, "marked": marked, "form": form, "at_once": settings.FACTS_AT_ONCE}

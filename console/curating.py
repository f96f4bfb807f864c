"""What curators do to facts and changesets; each act is a changeset, and can be undone."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from console.curation_forms import (
    CURATE,
    ActForm,
    CorrectForm,
    InvalidateForm,
    RestoreForm,
    RevertForm,
)
from console.highlights import show_difference
from console.pages import find_way_back, page_for, show_page
from memoryproject.errors import Problem
from semantic import curation, reverting
from semantic.curation import Act
from semantic.engines import Category
from semantic.models import Changeset, Fact

SEES_FACT = ("semantic.view_fact", CURATE)
SEES_CHANGESET = ("semantic.view_changeset", CURATE)
Do = Callable[[Any, Act], tuple[uuid.UUID, Changeset]]
"""Does what a valid form says; returns the fact to look at, and what was changed."""


@page_for(*SEES_FACT)
def invalidate_fact(request: HttpRequest, fact_id: uuid.UUID) -> HttpResponse:
    """Stop holding a fact, as superseded or as wrong."""
    fact = find_fact(fact_id)

    def do(given: dict[str, Any], act: Act) -> tuple[uuid.UUID, Changeset]:
        (changeset,) = curation.invalidate_facts(
            act=act,
            fact_ids=[fact.id],
            because=Fact.Because(given["because"]),
            versions={fact.id: given["version"]},
        )
        return fact.id, changeset

    return act_on(request, fact, InvalidateForm, "invalidate", do)


@page_for(*SEES_FACT)
def restore_fact(request: HttpRequest, fact_id: uuid.UUID) -> HttpResponse:
    """Hold a fact again."""
    fact = find_fact(fact_id)

    def do(given: dict[str, Any], act: Act) -> tuple[uuid.UUID, Changeset]:
        (changeset,) = curation.restore_facts(
            act=act, fact_ids=[fact.id], versions={fact.id: given["version"]}
        )
        return fact.id, changeset

    return act_on(request, fact, RestoreForm, "restore", do)


@page_for(*SEES_FACT)
def correct_fact(request: HttpRequest, fact_id: uuid.UUID) -> HttpResponse:
    """Put a better sentence in the place of a fact; with `preview`, show the difference only."""
    fact = find_fact(fact_id)

    def do(given: dict[str, Any], act: Act) -> tuple[uuid.UUID, Changeset]:
        follows = given["keywords"] == fact.keywords and given["fact"] != fact.fact
        opened = curation.correct_fact(
            act=act,
            fact_id=fact.id,
            sentence=given["fact"],
            category=Category(given["category"]),
            keywords=None if follows else given["keywords"],
            version=given["version"],
        )
        return opened.id, opened.changeset

    return act_on(request, fact, CorrectForm, "correct", do)


def act_on(
    request: HttpRequest, fact: Fact, form_class: type[ActForm], name: str, do: Do
) -> HttpResponse:
    """Do what the form says and go to the fact, or show the form again with what is wrong."""
    form = form_class(request.POST if request.method == "POST" else None, prefix=name)
    preview = "preview" in request.POST
    if request.method != "POST":
        return redirect_to_fact(fact.id, anchor=name)
    if form.is_valid() and not preview:
        act = Act(fact.tenant, request.user.get_username(), form.cleaned_data["reason"])
        try:
            shown, changeset = do(form.cleaned_data, act)
        except Problem as problem:
            add_problem(form, problem)
        else:
            return redirect_to_fact(shown, done=changeset.id)
    sentence = form.data.get(form.add_prefix("fact"), "")
    return show_page(
        request,
        "console/act.html",
        title=TITLES[name],
        status=200 if preview and form.is_valid() else 400,
        form=form,
        fact=fact,
        name=name,
        difference=show_difference(fact.fact, " ".join(sentence.split())) if sentence else "",
        has_changed=form.data.get(form.add_prefix("version")) != str(fact.version),
    )


TITLES = {
    "invalidate": "Stop holding a fact",
    "restore": "Hold a fact again",
    "correct": "Correct a fact",
}


def add_problem(form: Any, problem: Problem) -> None:
    """Tell a problem at the field that it is about, or above all of them."""
    for name, said in problem.fields.items():
        form.add_error(name if name in form.fields else None, said)
    if not problem.fields:
        form.add_error(None, problem.message)


def redirect_to_fact(
    fact_id: uuid.UUID, *, done: uuid.UUID | None = None, anchor: str = ""
) -> HttpResponseRedirect:
    """Return the way to a fact's page, where what was `done` can be undone."""
    address = reverse("admin:semantic_fact_change", args=[fact_id])
    asked = f"?done={done}" if done else ""
    return redirect(f"{address}{asked}{f'#{anchor}' if anchor else ''}")


@page_for(*SEES_CHANGESET)
def revert_changeset(request: HttpRequest, changeset_id: uuid.UUID) -> HttpResponse:
    """Show what undoing a changeset would do, and do it when a reason is given."""
    changeset = find_changeset(changeset_id)
    plan = reverting.plan_revert(tenant=changeset.tenant, changeset_id=changeset.id)
    form = RevertForm(
        request.POST if request.method == "POST" else None,
        prefix="undo" if "undo-reason" in request.POST else "revert",
        conflicts=bool(plan.conflicts),
    )
    if request.method == "POST" and form.is_valid():
        act = Act(changeset.tenant, request.user.get_username(), form.cleaned_data["reason"])
        try:
            made = reverting.revert_changeset(
                act=act,
                changeset_id=changeset.id,
                leave_conflicts=form.cleaned_data.get("leave_conflicts", False),
            )
        except Problem as problem:
            add_problem(form, problem)
        else:
            messages.success(
                request, "Undone. This changeset is on record, and can be undone, too."
            )
            page = reverse("admin:semantic_changeset_change", args=[made.id])
            return redirect(find_way_back(request, otherwise=page))
    return show_page(
        request,
        "console/revert.html",
        title="Undo a changeset",
        status=400 if form.errors else 200,
        form=form,
        changeset=changeset,
        plan=plan,
    )


def find_fact(fact_id: uuid.UUID) -> Fact:
    """Return a fact of any tenant.

    Raises:
        Http404: there is none.
    """
    facts = Fact.across_tenants.select_related("tenant", "conversation")
    return get_object_or_404(facts, id=fact_id)


def find_changeset(changeset_id: uuid.UUID) -> Changeset:
    """Return a changeset of any tenant.

    Raises:
        Http404: there is none.
    """
    rows = Changeset.across_tenants.select_related("tenant", "conversation")
    return get_object_or_404(rows, id=changeset_id)

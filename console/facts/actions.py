"""Retiring, restoring and correcting a fact, and reverting a changeset; each act can be undone."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from console.facts import forms
from console.facts.forms import CURATE, ActForm
from console.forms import submit
from console.highlights import show_difference
from console.pages import find_way_back, get_row, page_for, redirect_to, show_page
from semantic import corrections, curation, reverts
from semantic.curation import Act
from semantic.engines import Category
from semantic.models import Changeset, Fact

SEES_FACT = ("semantic.view_fact", CURATE)
SEES_CHANGESET = ("semantic.view_changeset", CURATE)


FORMS: dict[str, tuple[type[ActForm], str]] = {
    "invalidate": (forms.InvalidateForm, "Retire a fact"),
    "restore": (ActForm, "Restore a fact"),
    "correct": (forms.CorrectForm, "Correct a fact"),
}
"""By the act of an address: what it asks for, and its title."""


@page_for(*SEES_FACT)
def change_fact(request: HttpRequest, fact_id: uuid.UUID, name: str) -> HttpResponse:
    """Do what the form says and go to the fact; with `preview`, or faults, show the form again."""
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
    return (None if preview else submit(form, act)) or show_page(
        request,
        "console/facts/act.html",
        title=title,
        status=200 if preview else None,
        form=form,
        fact=fact,
        name=name,
        difference=show_difference(fact.fact, " ".join(sentence.split())) if sentence else "",
        has_changed=form.data.get(form.add_prefix("version")) != str(fact.version),
    )


def do(name: str, actor: str, fact: Fact, params: dict[str, Any]) -> tuple[Fact, Changeset]:
    """Do one of the acts; return the fact to look at, and the changeset."""
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
    """Retire or restore facts of one tenant, of which the person has seen these versions."""
    if name == "restore":
        return curation.restore_facts(act=act, fact_ids=list(versions), versions=versions)
    because = Fact.Because(params["because"])
    return curation.invalidate_facts(
        act=act, fact_ids=list(versions), because=because, versions=versions
    )


@page_for(*SEES_CHANGESET)
def revert_changeset(request: HttpRequest, changeset_id: uuid.UUID) -> HttpResponse:
    """Show what undoing a changeset would do, and do it when a reason is given."""
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
        page = reverse("admin:semantic_changeset_change", args=[revert.id])
        return redirect(find_way_back(request, otherwise=page))

    return submit(form, act) or show_page(
        request,
        "console/facts/revert.html",
        title="Undo a changeset",
        form=form,
        changeset=changeset,
        plan=plan,
    )

"""What waits for a curator: each fact with what says it, and approving or rejecting several."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.safestring import SafeString

from console.curating import SEES_FACT, add_problem
from console.curating_many import NAMED_AT_MOST, read_versions
from console.curation_forms import ReasonForm
from console.fact_page import Source, read_sources
from console.pages import choose_tenant, page_for, show_page
from episodic.revealing import Reader
from memoryproject.admin_values import lines, link
from memoryproject.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import curation, queries
from semantic.curation import Act
from semantic.models import Changeset, Fact

SHOWN_AT_MOST = 25
"""Of what waits longest; each is shown with its messages."""
DECISIONS = {"approve": "held from now on", "reject": "declared wrong"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A fact that waits, and the episodes and messages that it comes from."""

    fact: Fact
    sources: Sequence[Source]

    @property
    def marked(self) -> str:
        """How the form names it, with the version that is shown."""
        return f"{self.fact.id}:{self.fact.version}"


@page_for(*SEES_FACT)
def show_inbox(request: HttpRequest) -> HttpResponse:
    """Show what waits in a tenant, longest first; hold or reject what is marked."""
    tenant = choose_tenant(request)
    posted = request.method == "POST"
    form = ReasonForm(request.POST if posted else None)
    versions = read_versions(",".join(request.POST.getlist("fact")))
    if posted and form.is_valid() and tenant is not None:
        act = Act(tenant, request.user.get_username(), form.cleaned_data["reason"])
        try:
            made = decide(act, request.POST.get("decision", ""), versions)
        except Problem as problem:
            add_problem(form, problem)
        else:
            done = DECISIONS[request.POST["decision"]]
            messages.success(request, _name_made(len(versions), done, made))
            return redirect(f"{reverse('console:inbox')}?tenant={tenant.name}")
    return show_page(
        request,
        "console/inbox.html",
        title="Waiting for a curator",
        status=400 if posted else 200,
        form=form,
        owner=tenant,
        tenants=list(Tenant.objects.order_by("name")[:200]),
        waiting=find_waiting(request, tenant),
        marked=set(versions),
        total=queries.facts_waiting(tenant).count() if tenant else 0,
        at_most=SHOWN_AT_MOST,
    )


def find_waiting(request: HttpRequest, tenant: Tenant | None) -> list[Waiting]:
    """Return what waits longest, with what the person may read of its messages."""
    if tenant is None:
        return []
    reader = Reader(request.user)
    found = queries.facts_waiting(tenant).select_related("conversation", "changeset", "tenant")
    return [
        Waiting(fact, read_sources(fact, reader)) for fact in found.order_by("id")[:SHOWN_AT_MOST]
    ]


def decide(act: Act, decision: str, versions: Mapping[uuid.UUID, int]) -> list[Changeset]:
    """Approve or reject the facts that were marked, all or none.

    Raises:
        Problem: none was marked, one has changed since, or it is neither of the two.
    """
    if not versions:
        raise Problem("No fact is marked.")
    if decision not in DECISIONS:
        raise Problem("Approve or reject them.")
    do = curation.approve_facts if decision == "approve" else curation.reject_facts
    return do(act=act, fact_ids=list(versions), versions=versions)


def _name_made(count: int, done: str, made: Sequence[Changeset]) -> SafeString:
    named = [link(one, f"the changeset of {one.conversation}") for one in made[:NAMED_AT_MOST]]
    return lines([f"{count} fact{'s' * (count != 1)} {done}. To undo it, revert:", *named])

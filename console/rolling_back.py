"""Undoing what came from a source: a preview first, then with a reason; and lifting it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from console.curating import add_problem
from console.curation_forms import CURATE, ReasonForm
from console.pages import choose_tenant, page_for, show_page
from episodic import withholding as episodic
from episodic.models import Conversation, Role, Withholding
from episodic.withholding import Source
from memoryproject.errors import Problem
from memoryproject.tenancy.models import APIKey, Tenant
from semantic import rollback
from semantic.curation import Act

SEES = ("episodic.view_withholding", CURATE)
KEYS_AT_MOST = 500
CONVERSATIONS_AT_MOST = 20
UNDONE = "Undone. What is left is learnt anew by the next worker."
LIFTED = "Lifted: the messages are back, and are learnt like new ones."
GOES_ON = "A worker does it now, one conversation after the other. Look here again."
FIGURES = {
    "conversations": "Conversations it spoke in",
    "messages": "Messages withheld",
    "episodes": "Episodes taken apart",
    "returned": "Messages of others in them, read anew",
    "runs": "Learning runs undone",
    "closed": "Facts ended",
    "reopened": "Facts held again",
    "redrawn": "Other episodes learnt from anew",
    "left": "Facts left alone, since people have changed them",
}
"""What the numbers of a rollback are called, in the order in which it happens."""


class SourceForm(ReasonForm):
    """What a source is, and why it is undone."""

    since = forms.DateTimeField(
        label="Since (UTC)",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="By the server's clock: what was received from then on.",
    )
    key = forms.ChoiceField(label="API key", required=False)
    conversation = forms.UUIDField(
        required=False, help_text="The agent's id of the conversation; empty: in any."
    )
    speaker = forms.CharField(
        required=False, max_length=200, help_text="The name of the messages; empty: any."
    )
    role = forms.ChoiceField(required=False, choices=[("", "any"), *Role.choices])
    field_order = ("since", "key", "conversation", "speaker", "role", "reason")

    def __init__(self, *given: Any, tenant: Tenant | None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._tenant = tenant
        keys = APIKey.objects.of(tenant).order_by("name", "id")[:KEYS_AT_MOST] if tenant else []
        choices = [("", "any"), *((str(key.id), str(key)) for key in keys)]
        self.fields["key"].choices = choices  # type: ignore[attr-defined]

    def find_source(self) -> Source:
        """Return the source that a valid form names.

        Raises:
            Problem: the tenant has no such conversation.
        """
        given = self.cleaned_data
        assert self._tenant is not None
        conversation = None
        if given["conversation"]:
            mine = Conversation.objects.of(self._tenant)
            conversation = mine.filter(external_id=given["conversation"]).first()
            if conversation is None:
                said = "The tenant has no such conversation."
                raise Problem(said, fields={"conversation": [said]})
        key = (
            APIKey.objects.of(self._tenant).filter(id=given["key"]).first()
            if given["key"]
            else None
        )
        return Source(
            since=given["since"],
            posted_by=key,
            conversation=conversation,
            speaker=given["speaker"],
            role=given["role"],
        )


@page_for(*SEES)
def show_rollback(request: HttpRequest) -> HttpResponse:
    """Show the form and, once it is filled in, what it would come to; do it when told to."""
    tenant = choose_tenant(request)
    posted = request.method == "POST"
    form = SourceForm(request.POST if posted else None, tenant=tenant)
    found: rollback.Preview | None = None
    if posted and tenant is not None and form.is_valid():
        act = Act(tenant, request.user.get_username(), form.cleaned_data["reason"])
        try:
            if "do" in request.POST:
                made = rollback.roll_back(act=act, source=form.find_source())
                messages.success(request, UNDONE if made.done_at else GOES_ON)
                return redirect("admin:episodic_withholding_change", made.pk)
            found = rollback.preview(act=act, source=form.find_source())
        except Problem as problem:
            add_problem(form, problem)
    return show_page(
        request,
        "console/roll_back.html",
        title="Undo a source",
        status=400 if posted and not found else 200,
        form=form,
        owner=tenant,
        tenants=list(Tenant.objects.order_by("name")[:200]),
        found=found,
        figures=name_figures(found.counts.to_json()) if found else [],
    )


def name_figures(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return each number with what it is called."""
    return [(called, counts[name]) for name, called in FIGURES.items() if name in counts]


def tell(request: HttpRequest, withholding: Withholding) -> Mapping[str, Any]:
    """Return where its messages are, what it came to, and whether the person may lift it."""
    ids = episodic.conversations_withheld_by(withholding, at_most=CONVERSATIONS_AT_MOST)
    left, _ = episodic.count(episodic.messages_left(withholding))
    return {
        "conversations": Conversation.objects.of(withholding.tenant).filter(id__in=ids),
        "left": left,
        "figures": name_figures(withholding.made),
        "may_lift": withholding.lifted_at is None and request.user.has_perms(SEES),
    }


@page_for(*SEES)
@require_POST
def lift(request: HttpRequest, withholding_id: uuid.UUID) -> HttpResponse:
    """Let count again what is withheld."""
    rows = Withholding.across_tenants.select_related("tenant")
    withholding = get_object_or_404(rows, id=withholding_id)
    act = Act(withholding.tenant, request.user.get_username(), request.POST.get("reason", ""))
    try:
        lifted = rollback.lift(act=act, withholding_id=withholding.id)
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, LIFTED if lifted.done_at else GOES_ON)
    return redirect("admin:episodic_withholding_change", withholding.pk)

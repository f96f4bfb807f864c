"""Rollback of a source: form, preview, the page of its quarantine, and lifting the quarantine."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from episodic import withholding as episodic
from episodic.models import Conversation, Message, Role, Withholding
from memoryproject.tenancy.models import APIKey, Tenant
from semantic.curation import Act
from wings.console import pages
from wings.console.facts.forms import CURATE
from wings.console.forms import ConversationField, ReasonForm, submit
from wings.console.texts import TEXTS
from wings.rollback import rollback

SEES = ("episodic.view_withholding", CURATE)
KEYS_AT_MOST = 500
CONVERSATIONS_AT_MOST = 20
UNDONE = "Rolled back. The next worker processes anew what is left."
LIFTED = "Lifted: the messages are back, and are processed like new ones."
GOES_ON = "A worker does it now, one conversation after the other. Reload this page."


class SourceForm(ReasonForm):
    """A source, and the reason for its rollback."""

    since = forms.DateTimeField(widget=forms.DateTimeInput(attrs={"type": "datetime-local"}))
    posted_by = forms.ModelChoiceField(
        APIKey.across_tenants.none(), required=False, empty_label="any"
    )
    conversation = ConversationField(required=False)
    speaker = forms.CharField(required=False, max_length=200)
    role = forms.ChoiceField(required=False, choices=[("", "any"), *Role.choices])
    field_order = ("since", "posted_by", "conversation", "speaker", "role", "reason")

    def __init__(self, *args: Any, tenant: Tenant, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        keys = APIKey.objects.of(tenant).order_by("name", "id")
        offered = keys.filter(id__in=keys.values("id")[:KEYS_AT_MOST])
        self.fields["posted_by"].queryset = offered  # type: ignore[attr-defined]
        self._tenant = tenant

    def clean_conversation(self) -> Conversation | None:
        """Return the tenant's conversation, by the agent's id."""
        named = self.cleaned_data["conversation"]
        found = Conversation.objects.of(self._tenant).filter(external_id=named).first()
        if named and found is None:
            raise forms.ValidationError("The tenant has no such conversation.")
        return found


@pages.admin_page(
    "console/conversations/roll_back.html", "Roll back a source", *SEES, of_one_tenant=True
)
def show_rollback(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    """Show the form and, once filled in, a preview; with `do`, roll back."""
    posted = request.method == "POST"
    form = SourceForm(request.POST if posted else None, tenant=tenant)

    def roll_back() -> Any:
        actor = request.user.get_username()
        row = Withholding(tenant=tenant, actor=actor, **form.cleaned_data)
        if "do" not in request.POST:
            return rollback.preview(row)
        rollback.roll_back(row)
        messages.success(request, UNDONE if row.done_at else GOES_ON)
        return pages.redirect_to(row)

    result = submit(form, roll_back)
    if isinstance(result, HttpResponse):
        return result
    counts, remaining, taken = result or ({}, None, [])
    return {
        "status": 400 if posted and not counts else 200,
        "form": form,
        "owner": tenant,
        "remaining": remaining,
        "figures": name_figures(counts),
        "taken": taken,
    }


def name_figures(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    figures = TEXTS["rollback_figures"]
    return [(called, counts[name]) for name, called in figures.items() if name in counts]


def get_story(request: HttpRequest, withholding: Withholding) -> Mapping[str, Any]:
    """Return a rollback's conversations and its results."""
    withheld = Message.objects.of(withholding.tenant).filter(withheld_by=withholding)
    ids = episodic.conversations_with(withheld, at_most=CONVERSATIONS_AT_MOST)
    return {
        "conversations": Conversation.objects.of(withholding.tenant).filter(id__in=ids),
        "left": episodic.count(episodic.messages_left(withholding))["conversations"],
        "figures": name_figures(withholding.made),
    }


@pages.action_for(*SEES)
def lift(request: HttpRequest, withholding_id: uuid.UUID) -> HttpResponse:
    withholding = pages.get_row(Withholding, withholding_id)
    act = Act(withholding.tenant, request.user.get_username(), request.POST.get("reason", ""))

    def lift_it() -> str:
        lifted = rollback.lift(act=act, withholding_id=withholding.id)
        return LIFTED if lifted.done_at else GOES_ON

    return pages.act_on(request, withholding, lift_it)

"""The forms of retention policies, with a preview, and of legal holds."""

import uuid
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from episodic.queries import get_by_external_id
from indexing.kinds import SourceType
from memoryproject.adminkit.values import page_address
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from wings.console import pages
from wings.console.erasing.page import ERASE, name_counts
from wings.console.forms import ConversationField, ReasonForm, TextForm, submit
from wings.erasure import services
from wings.erasure.models import Hold, Kept, RetentionPolicy
from wings.erasure.parts import count_due, holds_of
from wings.people import queries
from wings.people.models import Person

DAYS_AT_MOST = 36_500
HOLDS_AT_MOST = 1_000
"""Number of a person's conversations that one form puts on hold."""
POLICIES = "admin:erasure_retentionpolicy_changelist"
HOLDS = "admin:erasure_hold_changelist"


class PolicyForm(TextForm):
    kind = forms.ChoiceField(choices=Kept.choices)
    older_than_days = forms.IntegerField(required=False, min_value=1, max_value=DAYS_AT_MOST)
    unserved_days = forms.IntegerField(required=False, min_value=1, max_value=DAYS_AT_MOST)
    keep_newest = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    source_type = forms.ChoiceField(
        required=False, choices=[("", "any"), *((one.value, one.value) for one in SourceType)]
    )


class HoldForm(ReasonForm):
    conversation = ConversationField(required=False)
    person = forms.ModelChoiceField(Person.across_tenants.none(), required=False)
    field_order = ("conversation", "person", "reason")

    def __init__(self, *args: Any, tenant: Tenant, **options: Any) -> None:
        super().__init__(*args, **options)
        people = Person.objects.of(tenant).order_by("name", "id")
        self.fields["person"].queryset = people  # type: ignore[attr-defined]

    def clean(self) -> None:
        if self.cleaned_data.get("conversation") and self.cleaned_data.get("person"):
            raise forms.ValidationError("Name a conversation or a person, not both.")


@pages.admin_page("console/policy.html", "Make a retention policy", ERASE, of_one_tenant=True)
def make_policy(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    """Show what a policy would erase now; make it if that was shown for the same policy."""
    form = PolicyForm(request.POST if request.method == "POST" else None)
    shown = {"form": form, "back": reverse(POLICIES)}

    def make() -> pages.Answer:
        actor = request.user.get_username()
        policy = RetentionPolicy(tenant=tenant, actor=actor, **form.cleaned_data)
        services.check_policy(policy)
        if request.POST.get("previewed") != str(policy):
            return {**shown, "policy": policy, "counts": name_counts(count_due(policy))}
        with transaction.atomic():
            policy.save(force_insert=True)
            pages.record(request, policy, "made it", is_new=True)
        return pages.redirect_to(policy)

    return submit(form, make) or shown


@pages.admin_page(pages.FORM, "Delete this policy", ERASE)
def delete_policy(request: HttpRequest, policy_id: uuid.UUID) -> pages.Answer:
    policy = pages.get_row(RetentionPolicy, policy_id)
    if request.method != "POST":
        return {"form": TextForm(), "back": page_address(policy)}
    with transaction.atomic():
        pages.record(request, policy, "deleted it")
        policy.delete()
    messages.success(request, "Deleted: it erases nothing more.")
    return redirect(POLICIES)


@pages.admin_page(pages.FORM, "Place a legal hold", ERASE, of_one_tenant=True)
def make_hold(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    form = HoldForm(request.POST if request.method == "POST" else None, tenant=tenant)

    def make() -> HttpResponse:
        params = form.cleaned_data
        act = {"actor": request.user.get_username(), "reason": params["reason"]}
        with transaction.atomic():
            homes = list_homes(tenant, params["conversation"], params["person"])
            holds = [services.place_hold(tenant=tenant, conversation_id=id, **act) for id in homes]
            for hold in holds:
                pages.record(request, hold, "placed it", is_new=True)
        messages.success(request, f"{len(holds)} legal hold{'s' * (len(holds) != 1)} placed.")
        return pages.redirect_to(holds[0]) if len(holds) == 1 else redirect(HOLDS)

    return submit(form, make) or {"form": form, "back": reverse(HOLDS)}


def list_homes(
    tenant: Tenant, conversation: uuid.UUID | None, person: Person | None
) -> Iterable[uuid.UUID | None]:
    """Return the conversations to hold, those of a person if not on hold yet; None: the tenant.

    Raises:
        NotFound: the tenant has no such conversation.
        Problem: the person speaks in none that is not on hold, or in too many.
    """
    if conversation is not None:
        return [get_by_external_id(tenant, conversation).id]
    if person is None:
        return [None]
    identity = queries.find_identity(person)
    held = holds_of(tenant).exclude(conversation_id=None).values("conversation_id")
    ids: set[uuid.UUID | None] = set()
    for rows in (queries.conversations_of, queries.conversations_shared):
        theirs = rows(tenant, identity).exclude(id__in=held)
        ids.update(theirs.values_list("id", flat=True)[: HOLDS_AT_MOST + 1])
    if not 0 < len(ids) <= HOLDS_AT_MOST:
        raise Problem(f"There must be 1 to {HOLDS_AT_MOST:,} conversations of theirs not on hold.")
    return ids


@pages.admin_page(pages.FORM, "End this hold", ERASE)
def lift_hold(request: HttpRequest, hold_id: uuid.UUID) -> pages.Answer:
    hold = pages.get_row(Hold, hold_id)
    if request.method != "POST":
        return {"form": TextForm(), "back": page_address(hold)}
    actor = request.user.get_username()
    return pages.act_on(
        request,
        hold,
        lambda: services.lift_hold(tenant=hold.tenant, hold_id=hold.id, actor=actor),
        done="Ended.",
        logged="ended it",
    )

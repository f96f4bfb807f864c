"""Saving an address of the admin under a name, for oneself or for all, and deleting it."""

import uuid

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse

from console.models import SavedFilter
from console.pages import action_for

SAVES = "console.add_savedfilter"
SAVED_AT_MOST = 100
"""Of one person."""


class SaveForm(forms.ModelForm):  # type: ignore[type-arg]
    """A name, and the address of a page of the admin."""

    class Meta:
        model = SavedFilter
        fields = ("name", "path", "shared")

    def clean_path(self) -> str:
        """Take only pages of the admin: a shared name must not lead anywhere else."""
        path = str(self.cleaned_data["path"])
        try:
            resolve(path.partition("?")[0])
        except Resolver404:
            raise forms.ValidationError("Only a page of the admin can be saved.") from None
        if not path.startswith(reverse("admin:index")):
            raise forms.ValidationError("Only a page of the admin can be saved.")
        return path


def filters_for(person: str, *, sees_all: bool) -> list[SavedFilter]:
    """Return what a person has saved and, to who sees all tenants, what others share, by name."""
    seen = Q(owner=person) | Q(shared=True) if sees_all else Q(owner=person)
    rows = SavedFilter.objects.filter(seen)
    return list(rows.order_by("name", "id")[: 2 * SAVED_AT_MOST])


@action_for(SAVES)
def save_filter(request: HttpRequest) -> HttpResponse:
    """Save an address under a name, or under the same name anew, and go back there."""
    form = SaveForm(request.POST)
    if not form.is_valid():
        faults = [str(text) for errors in form.errors.values() for text in errors]
        messages.error(request, f"Not saved. {' '.join(faults)}")
        return redirect("console:search")
    owner = request.user.get_username()
    mine = SavedFilter.objects.filter(owner=owner)
    fields = form.cleaned_data
    if mine.count() >= SAVED_AT_MOST and not mine.filter(name=fields["name"]).exists():
        messages.error(request, f"Not saved: you have {SAVED_AT_MOST} already.")
        return redirect(fields["path"])
    defaults = {"path": fields["path"], "shared": fields["shared"]}
    SavedFilter.objects.update_or_create(owner=owner, name=fields["name"], defaults=defaults)
    messages.success(request, f"Saved as “{fields['name']}”.")
    return redirect(fields["path"])


@action_for(SAVES)
def delete_filter(request: HttpRequest, filter_id: uuid.UUID) -> HttpResponse:
    """Delete an address that the person has saved; others' stay."""
    mine = SavedFilter.objects.filter(owner=request.user.get_username())
    deleted, _ = mine.filter(id=filter_id).delete()
    if not deleted:
        raise Http404
    messages.success(request, "No longer saved.")
    return redirect("console:search")

"""The erase page of the admin: a preview, and a form in which the name is typed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.admin.templatetags.admin_urls import admin_urlname
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.safestring import SafeString

from console.action_log import record
from console.pages import get_row, page_for, show_page
from episodic.models import Conversation, Message
from erasure import services
from erasure.models import Erasure, Scope, State
from memoryproject.tenancy.models import Tenant, TenantModel
from notes.models import Note
from semantic.curation import REASON_AT_MOST

ERASE = "erasure.erase"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page is about, with an unsaved erasure of it.

    `word` is what a person types to show that it is meant.
    """

    row: Message | Conversation | Note | Tenant
    erasure: Erasure
    name: str
    word: str

    @property
    def back(self) -> str:
        """The address of its page in the admin."""
        return reverse(admin_urlname(self.row._meta, SafeString("change")), args=[self.row.pk])


class EraseForm(forms.Form):
    """Why, and the name of what is meant."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_AT_MOST,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It is kept for good. Do not quote what is to be erased.",
        error_messages={"required": "Say why: the reason is what is left of it."},
    )
    typed = forms.CharField(
        label="Type it to confirm", max_length=1_000, widget=forms.TextInput, strip=True
    )

    def __init__(self, *args: object, word: str, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._word = word
        self.fields["typed"].label = f"Type {word} to confirm"

    def clean_typed(self) -> str:
        """Take nothing but the word."""
        typed = str(self.cleaned_data["typed"])
        if typed != self._word:
            raise forms.ValidationError("This is not what is to be erased.")
        return typed


def _draft(row: TenantModel, scope: Scope) -> Erasure:
    return Erasure(tenant=row.tenant, scope=scope, target=row.id)


def _of_message(row_id: uuid.UUID) -> Subject:
    row = get_row(Message, row_id)
    name, place = f"message {row.seq}", f" of conversation {row.conversation_id}"
    return Subject(row, _draft(row, Scope.MESSAGE), name + place, name)


def _of_conversation(row_id: uuid.UUID) -> Subject:
    row = get_row(Conversation, row_id)
    name = str(row.external_id)
    return Subject(row, _draft(row, Scope.CONVERSATION), f"conversation {name}", name[:8])


def _of_note(row_id: uuid.UUID) -> Subject:
    row = get_row(Note, row_id)
    return Subject(row, _draft(row, Scope.NOTE), f"note {row.id}", str(row.id)[-8:])


def _of_user(row_id: uuid.UUID) -> Subject:
    row = get_row(Note, row_id)
    if not row.user_id:
        raise Http404("The note is about nobody.")
    erasure = Erasure(tenant=row.tenant, scope=Scope.USER, subject=row.user_id)
    return Subject(row, erasure, f"all notes of user {row.user_id}", row.user_id.strip())


def _of_tenant(row_id: uuid.UUID) -> Subject:
    row = get_object_or_404(Tenant, id=row_id)
    erasure = Erasure(tenant=row, scope=Scope.TENANT, target=row.id)
    return Subject(row, erasure, f"tenant {row.name}", row.name.strip())


FINDERS = {
    Scope.MESSAGE: _of_message,
    Scope.CONVERSATION: _of_conversation,
    Scope.NOTE: _of_note,
    Scope.USER: _of_user,
    Scope.TENANT: _of_tenant,
}
"""Each returns what is to be erased; a user is found by a note that is about them."""


@page_for(ERASE)
def erase(request: HttpRequest, *, scope: Scope, **row_id: uuid.UUID) -> HttpResponse:
    """Show what would go, or erase it when the form is right; the address names one row."""
    subject = FINDERS[scope](*row_id.values())
    erasure = subject.erasure
    posted = request.method == "POST"
    form = EraseForm(request.POST if posted else None, word=subject.word)
    if posted and form.is_valid():
        actor = request.user.get_username()
        services.do(erasure, actor=actor, reason=form.cleaned_data["reason"])
        record(request, erasure, "wanted it", is_new=True)
        progress = "Erased." if erasure.state == State.DONE else "A worker erases it."
        messages.success(request, f"{progress} This is on record.")
        return redirect("admin:erasure_erasure_change", erasure.id)
    counts = services.preview(erasure)
    return show_page(
        request,
        "console/erase.html",
        title=f"Erase {scope.label}",
        status=400 if posted else 200,
        form=form,
        subject=subject,
        counts=[(kind.replace("_", " "), count) for kind, count in sorted(counts.items())],
    )

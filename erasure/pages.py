"""Erasing in the admin: what would go is counted first, and the name of it is typed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from console.pages import page_for, show_page
from console.records import record
from episodic.models import Conversation, Message
from erasure import services
from erasure.models import Scope, State
from erasure.targets import Target
from memoryproject.tenancy.models import Tenant
from notes.models import Note

ERASE = "erasure.erase"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page is about: `word` is what a person types to show that it is meant."""

    tenant: Tenant
    target: Target
    called: str
    word: str
    back: str


class EraseForm(forms.Form):
    """Why, and the name of what is meant."""

    reason = forms.CharField(
        label="Reason",
        max_length=services.REASON_AT_MOST,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It is kept for good. Do not quote what is to be erased.",
        error_messages={"required": "Say why: the reason is what is left of it."},
    )
    typed = forms.CharField(
        label="Type it to confirm", max_length=1_000, widget=forms.TextInput, strip=True
    )

    def __init__(self, *given: object, word: str, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]
        self._word = word
        self.fields["typed"].label = f"Type {word} to confirm"

    def clean_typed(self) -> str:
        """Take nothing but the word."""
        typed = str(self.cleaned_data["typed"])
        if typed != self._word:
            raise forms.ValidationError("This is not what is to be erased.")
        return typed


@page_for(ERASE)
def erase_message(request: HttpRequest, message_id: uuid.UUID) -> HttpResponse:
    """Erase a message, with its episode and what rests on it."""
    rows = Message.across_tenants.select_related("tenant").defer("content", "metadata")
    message = get_object_or_404(rows, id=message_id)
    return _erase(
        request,
        Subject(
            message.tenant,
            Target(Scope.MESSAGE, message.id),
            f"message {message.seq} of conversation {message.conversation_id}",
            f"message {message.seq}",
            reverse("admin:episodic_message_change", args=[message.id]),
        ),
    )


@page_for(ERASE)
def erase_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Erase all of a conversation."""
    rows = Conversation.across_tenants.select_related("tenant")
    conversation = get_object_or_404(rows, id=conversation_id)
    external_id = str(conversation.external_id)
    return _erase(
        request,
        Subject(
            conversation.tenant,
            Target(Scope.CONVERSATION, conversation.id),
            f"conversation {external_id}",
            external_id[:8],
            reverse("admin:episodic_conversation_change", args=[conversation.id]),
        ),
    )


@page_for(ERASE)
def erase_note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Erase a note with all its versions."""
    note = _find_note(note_id)
    return _erase(
        request,
        Subject(
            note.tenant,
            Target(Scope.NOTE, note.id),
            f"note {note.id}",
            str(note.id)[-8:],
            reverse("admin:notes_note_change", args=[note.id]),
        ),
    )


@page_for(ERASE)
def erase_user(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Erase all notes of the user that a note is about."""
    note = _find_note(note_id)
    if not note.user_id:
        raise Http404("The note is about nobody.")
    return _erase(
        request,
        Subject(
            note.tenant,
            Target(Scope.USER, None, note.user_id),
            f"all notes of user {note.user_id}",
            note.user_id.strip(),
            reverse("admin:notes_note_change", args=[note.id]),
        ),
    )


@page_for(ERASE)
def erase_tenant(request: HttpRequest, tenant_id: uuid.UUID) -> HttpResponse:
    """Erase a tenant with everything that it owns."""
    tenant = get_object_or_404(Tenant, id=tenant_id)
    return _erase(
        request,
        Subject(
            tenant,
            Target(Scope.TENANT, tenant.id),
            f"tenant {tenant.name}",
            tenant.name.strip(),
            reverse("admin:tenancy_tenant_change", args=[tenant.id]),
        ),
    )


def _find_note(note_id: uuid.UUID) -> Note:
    return get_object_or_404(Note.across_tenants.select_related("tenant"), id=note_id)


def _erase(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Show what would go, or erase it when the form is right."""
    posted = request.method == "POST"
    form = EraseForm(request.POST if posted else None, word=subject.word)
    if posted and form.is_valid():
        erasure = services.do(
            tenant=subject.tenant,
            target=subject.target,
            actor=request.user.get_username(),
            reason=form.cleaned_data["reason"],
        )
        record(request, erasure, "wanted it", is_new=True)
        said = "Erased." if erasure.state == State.DONE else "A worker erases it."
        messages.success(request, f"{said} This is on record.")
        return redirect("admin:erasure_erasure_change", erasure.id)
    counts = services.preview(tenant=subject.tenant, target=subject.target)
    return show_page(
        request,
        "console/erase.html",
        title=f"Erase {subject.target.scope.label}",
        status=400 if posted else 200,
        form=form,
        subject=subject,
        counts=[(kind.replace("_", " "), count) for kind, count in sorted(counts.items())],
    )

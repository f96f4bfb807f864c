"""Erasing with a preview and a typed name; the certificate of an erasure, to print."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone

from console.forms import ReasonForm
from console.pages import get_row, page_for, record, show_page
from episodic.models import Conversation, Message
from erasure import proof, services
from erasure.models import Erasure, Scope, State
from erasure.parts import imports_of
from memoryproject.adminkit.values import page_address
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant, TenantModel
from notes.models import Note
from people.models import Person
from semantic.models import Changeset

ERASE = "erasure.erase"
WORDS_AT_LEAST, WORDS_AT_MOST = 3, 200
TABLES: dict[Scope, type[TenantModel]] = {
    Scope.MESSAGE: Message, Scope.CONVERSATION: Conversation, Scope.PERSON: Person,
    Scope.IMPORT: Changeset,
}  # fmt: skip
"""By scope what a page is about, where that is no note."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page is about, with an unsaved erasure of it.

    `word` is what a person types to show that it is meant.
    """

    row: TenantModel | Tenant
    erasure: Erasure
    name: str
    word: str

    @property
    def back(self) -> str:
        """The address of its page in the admin."""
        return page_address(self.row)


class EraseForm(ReasonForm):
    """Why, and the name of what is meant."""

    typed = forms.CharField(
        label="Type it to confirm", max_length=1_000, widget=forms.TextInput, strip=True
    )

    def __init__(self, *args: object, word: str, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._word, reason = word, self.fields["reason"]
        reason.help_text = "It is kept for good. Do not quote what is to be erased."
        reason.error_messages["required"] = "Say why: the reason is what is left of it."
        self.fields["typed"].label = f"Type {word} to confirm"

    def clean_typed(self) -> str:
        """Take nothing but the word."""
        typed = str(self.cleaned_data["typed"])
        if typed != self._word:
            raise forms.ValidationError("This is not what is to be erased.")
        return typed


def find_subject(scope: Scope, row_id: uuid.UUID) -> Subject:
    """Return what is to be erased; a user is found by a note that is about them.

    Raises:
        Http404: there is no such row, the note is about nobody, or the changeset is no import from
            another system.
    """
    if scope is Scope.TENANT:
        tenant = get_object_or_404(Tenant, id=row_id)
        erasure = Erasure(tenant=tenant, scope=scope, target=tenant.id)
        return Subject(tenant, erasure, f"tenant {tenant}", tenant.name.strip())
    row: Any = get_row(TABLES.get(scope, Note), row_id)
    erasure = Erasure(tenant=row.tenant, scope=scope, target=row.id)
    if scope is Scope.MESSAGE:
        word = f"message {row.seq}"
        return Subject(row, erasure, f"{word} of conversation {row.conversation_id}", word)
    if scope is Scope.CONVERSATION:
        word = str(row.external_id)
        return Subject(row, erasure, f"conversation {word}", word[:8])
    if scope is Scope.PERSON:
        return Subject(row, erasure, f"{row.name} with all that is theirs", row.name.strip())
    if scope is Scope.IMPORT:
        if not imports_of(row.tenant).filter(id=row_id).exists():
            raise Http404("It is no import from another system.")
        name = f"import of {row.started_at:%Y-%m-%d %H:%M}"
        return Subject(row, erasure, name, str(row_id)[-8:])
    if scope is Scope.NOTE:
        return Subject(row, erasure, f"note {row.id}", str(row.id)[-8:])
    if not row.user_id:
        raise Http404("The note is about nobody.")
    erasure.target, erasure.subject = None, row.user_id
    return Subject(row, erasure, f"all notes of user {row.user_id}", row.user_id.strip())


@page_for(ERASE)
def erase(request: HttpRequest, *, scope: Scope, **row_id: uuid.UUID) -> HttpResponse:
    """Show what would go, or erase it when the form is right; the address names one row."""
    subject = find_subject(scope, *row_id.values())
    erasure = subject.erasure
    posted = request.method == "POST"
    form = EraseForm(request.POST if posted else None, word=subject.word)
    if posted and form.is_valid():
        actor = request.user.get_username()
        services.do(erasure, actor=actor, reason=form.cleaned_data["reason"])
        record(request, erasure, "wanted it", is_new=True)
        progress = "Erased." if erasure.state == State.DONE else "A worker erases it."
        messages.success(request, f"{progress} This is on record.")
        return redirect(reverse("console:certificate", args=[erasure.id]) + "?scan=1")
    counts = services.preview(erasure)
    return show_page(
        request,
        "console/erase.html",
        title=f"Erase {scope.label}",
        form=form,
        subject=subject,
        counts=[(kind.replace("_", " "), count) for kind, count in sorted(counts.items())],
    )


def get_story(request: HttpRequest, erasure: Erasure) -> Mapping[str, Any]:
    """Return what stands above an erasure's columns."""
    return {"erased": name_counts(erasure)}


def name_counts(erasure: Erasure) -> list[tuple[str, int]]:
    """Return how many rows of each kind were deleted."""
    return [(kind.replace("_", " "), count) for kind, count in sorted(erasure.counts.items())]


@page_for("erasure.view_erasure")
def show_certificate(request: HttpRequest, erasure_id: uuid.UUID) -> HttpResponse:
    """Show the certificate; with `scan` all tables are searched for it, with words for these.

    Only who may erase may look for words: a hit says what is written somewhere.
    """
    erasure = get_object_or_404(Erasure.across_tenants, id=erasure_id)
    words = " ".join(request.POST.get("words", "").split())
    found, fault = None, ""
    if words and not request.user.has_perm(ERASE):
        fault, words = "You may not look for words.", ""
    elif words and not WORDS_AT_LEAST <= len(words) <= WORDS_AT_MOST:
        fault, words = f"Give {WORDS_AT_LEAST} to {WORDS_AT_MOST} characters.", ""
    try:
        if words or (erasure.target and "scan" in request.GET):
            found = proof.scan(erasure, words)
    except Problem as problem:
        fault = problem.message
    return show_page(
        request,
        "console/certificate.html",
        title="Certificate of erasure",
        erasure=erasure,
        tenant=Tenant.objects.filter(id=erasure.tenant_id).first(),
        counts=name_counts(erasure),
        words=words,
        proof=found,
        fault=fault,
        at=timezone.now(),
        made_by=request.user.get_username() if isinstance(request.user, User) else "",
    )

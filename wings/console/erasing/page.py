"""Erasing with a preview and a typed name, and the printable certificate of an erasure."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from episodic.models import Conversation, Message
from memoryproject.adminkit.values import link_to_page, page_address
from memoryproject.tenancy.models import Tenant
from semantic.models import Changeset
from wings.console.forms import ReasonForm, submit
from wings.console.pages import Answer, admin_page, get_row, record
from wings.erasure import persons, proof, services
from wings.erasure.models import Erasure, Hold, RetentionPolicy, Scope, State
from wings.erasure.parts import imports_of
from wings.notes.models import Note
from wings.people.models import Person

ERASE = "erasure.erase"
WORDS_AT_MOST = 200
SUBJECTS: dict[Scope, tuple[Any, str, Callable[[Any], str]]] = {
    Scope.MESSAGE: (
        Message, "message {0.seq} of conversation {0.conversation_id}",
        lambda row: f"message {row.seq}",
    ),
    Scope.CONVERSATION: (
        Conversation, "conversation {0.external_id}", lambda row: str(row.external_id)[:8],
    ),
    Scope.NOTE: (Note, "note {0.id}", lambda row: str(row.id)[-8:]),
    Scope.USER: (Note, "all notes of user {0.user_id}", lambda row: row.user_id),
    Scope.PERSON: (Person, "{0.name} with all that is theirs", lambda row: row.name),
    Scope.IMPORT: (
        Changeset, "import of {0.started_at:%Y-%m-%d %H:%M}", lambda row: str(row.id)[-8:],
    ),
    Scope.TENANT: (Tenant, "tenant {0}", lambda row: row.name),
}  # fmt: skip
"""By scope: table of the subject, its name, and the word that a person types."""


def carry_out(request: HttpRequest, erasure: Erasure, *, reason: str) -> None:
    """Do a drafted erasure in the person's name, on record, and tell the person."""
    services.do(erasure, actor=request.user.get_username(), reason=reason)
    record(request, erasure, "wanted it", is_new=True)
    progress = "Erased." if erasure.state == State.DONE else "A worker erases it."
    messages.success(request, f"{progress} This is on record.")


def list_doors(request: HttpRequest, row: Any) -> list[tuple[str, str]]:
    """Return titles and addresses of the pages that erase a row, or that end a policy or a hold.

    An import's is in its story.
    """
    if isinstance(row, RetentionPolicy | Hold) and request.user.has_perm(ERASE):
        if isinstance(row, RetentionPolicy):
            return [("Delete…", reverse("console:policy_delete", args=[row.pk]))]
        return [] if row.lifted_at else [("End…", reverse("console:hold_lift", args=[row.pk]))]
    scopes = [scope for scope, (table, _, _) in SUBJECTS.items() if isinstance(row, table)]
    if scopes in ([], [Scope.IMPORT]) or not request.user.has_perm(ERASE):
        return []
    if Scope.USER in scopes and not row.user_id:
        scopes.remove(Scope.USER)
    titles = {Scope.USER: "Erase all of this user…"}
    return [
        (titles.get(scope, "Erase…"), reverse(f"console:erase_{scope.value}", args=[row.pk]))
        for scope in scopes
    ]


class EraseForm(ReasonForm):
    """The reason, and the name of the subject."""

    typed = forms.CharField(max_length=1_000)

    def __init__(
        self, *args: object, word: str, plans: Sequence[persons.Plan] = (), **options: object
    ) -> None:
        super().__init__(*args, **options)
        self._word = word
        self.fields["typed"].label = f"Type {word} to confirm"
        self._shared = {
            f"shared-{plan.presence.conversation.external_id}": plan
            for plan in plans
            if not plan.presence.is_theirs
        }
        for name, plan in self._shared.items():
            self.fields[name] = forms.ChoiceField(
                choices=persons.Choice.choices, initial=plan.erases, required=False,
                label=f"What goes of conversation {plan.presence.conversation.external_id}",
            )  # fmt: skip
        self.order_fields([*self._shared, "reason", "typed"])

    def get_choices(self) -> dict[uuid.UUID, str]:
        """Return the choice for each shared conversation, by the agent's id, or the default."""
        return {
            plan.presence.conversation.external_id: self.cleaned_data[name]
            for name, plan in self._shared.items()
            if self.cleaned_data.get(name)
        }

    def clean_typed(self) -> str:
        typed = str(self.cleaned_data["typed"])
        if typed != self._word:
            raise forms.ValidationError("This is not what is to be erased.")
        return typed


def draft(scope: Scope, row: Any) -> Erasure:
    """Return an unsaved erasure of the page's subject; a user is found by a note about them.

    Raises:
        Http404: the note is about nobody, or the changeset is not an import from another system.
    """
    if scope is Scope.IMPORT and not imports_of(row.tenant).filter(id=row.id).exists():
        raise Http404("It is no import from another system.")
    if scope is Scope.USER and not row.user_id:
        raise Http404("The note is about nobody.")
    tenant = row if scope is Scope.TENANT else row.tenant
    named = {"subject": row.user_id} if scope is Scope.USER else {"target": row.id}
    erasure = Erasure(tenant=tenant, scope=scope, **named)
    if scope is Scope.PERSON:
        erasure.subject = persons.draft_subject(row, {}).dump()
    return erasure


@admin_page("console/erase.html", "Erase", ERASE)
def erase(request: HttpRequest, *, scope: Scope, **slots: uuid.UUID) -> Answer:
    """Preview what would be erased, or erase it if the form is valid; the address names one row."""
    table, name, render_word = SUBJECTS[scope]
    (row_id,) = slots.values()
    row: Any = get_object_or_404(Tenant, id=row_id) if table is Tenant else get_row(table, row_id)
    erasure = draft(scope, row)
    plans = persons.list_plans(erasure) or []
    posted = request.POST if request.method == "POST" else None
    form = EraseForm(posted, word=render_word(row).strip(), plans=plans)

    def act() -> HttpResponse:
        if scope is Scope.PERSON:
            erasure.subject = persons.draft_subject(row, form.get_choices()).dump()
        carry_out(request, erasure, reason=form.cleaned_data["reason"])
        return redirect(reverse("console:certificate", args=[erasure.id]) + "?scan=1")

    done = submit(form, act)
    if done is not None:
        return done
    return {
        "title": f"Erase {scope.label}",
        "form": form,
        "name": name.format(row),
        "back": page_address(row),
        "erasure": erasure,
        "plans": plans,
        "plans_at_most": persons.PRESENCES_AT_MOST,
        "counts": name_counts(services.preview(erasure)),
    }


def get_story(request: HttpRequest, erasure: Erasure) -> Mapping[str, Any]:
    return {"erased": name_counts(erasure.counts)}


def name_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return how many rows of each kind were, or would be, deleted, in words."""
    return [(kind.replace("_", " "), count) for kind, count in sorted(counts.items())]


@admin_page("console/certificate.html", "Certificate of erasure", "erasure.view_erasure")
def show_certificate(request: HttpRequest, erasure_id: uuid.UUID) -> Answer:
    """Show the certificate; with `scan`, search all tables for the subject or for words.

    Only people who may erase may search for words, since a hit reveals content.
    """
    erasure = get_object_or_404(Erasure.across_tenants, id=erasure_id)
    words = " ".join(request.POST.get("words", "").split())
    found, fault = None, ""
    if words and not request.user.has_perm(ERASE):
        fault, words = "You may not look for words.", ""
    elif words and (len(words) > WORDS_AT_MOST or (len(words) == 1 and words.isascii())):
        fault, words = f"Give 2 to {WORDS_AT_MOST} characters.", ""
    if words or (erasure.target and "scan" in request.GET):
        found = proof.scan(erasure, words)
    searched = proof.load(erasure.proof)
    return {
        "erasure": erasure,
        "tenant": Tenant.objects.filter(id=erasure.tenant_id).first(),
        "counts": name_counts(erasure.counts),
        "words": words,
        "proof": found,
        "links": list_links(found),
        "searched": searched,
        "searched_at": datetime.fromisoformat(searched.at) if searched else None,
        "searched_links": list_links(searched),
        "fault": fault,
    }


def list_links(found: proof.Proof | None) -> list[str]:
    """Return links to the pages of rows that a search found, if they have any."""
    return [
        link_to_page(
            label.replace(".", "_"), uuid.UUID(row_id), f"{label.split('.')[1]} …{row_id[-8:]}"
        )
        for label, ids in (found.row_ids.items() if found else ())
        for row_id in ids
    ]

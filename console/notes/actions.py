"""Changing, deleting and restoring a note, on record."""

import uuid

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from console.action_log import record_memory
from console.forms import ReasonForm, submit
from console.graph.links import CURATE
from console.notes.forms import NoteForm
from console.notes.page import show_change
from console.pages import page_for, redirect_to, show_page
from memoryproject.edge.errors import Problem
from notes import services
from notes.models import Note

SEES_NOTE = ("notes.view_note", CURATE)


@page_for(*SEES_NOTE)
def change_note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Write a new version of a note; with `preview`, show the difference only."""
    note = get_note(note_id)
    if request.method != "POST":
        return redirect_to(note, anchor="#change")
    form = NoteForm(request.POST, note=note)
    preview = "preview" in request.POST

    @transaction.atomic
    def write() -> HttpResponse:
        changed = services.change_note(
            tenant=note.tenant,
            actor=request.user.get_username(),
            note_id=note.id,
            version=form.cleaned_data["version"],
            fields=form.read_changes(),
        )
        if changed.version == form.cleaned_data["version"]:
            raise Problem("Nothing is different: nothing was written.")
        reason = form.cleaned_data["reason"]
        record_memory(request, changed, f"wrote version {changed.version}: {reason}")
        messages.success(request, "Written. The earlier version is kept.")
        return redirect_to(note)

    content = form.cleaned_data.get("content", "") if preview and form.is_valid() else ""
    return (None if preview else submit(form, write)) or show_page(
        request,
        "console/notes/change.html",
        title="Change a note",
        form=form,
        note=note,
        difference=show_change(note.content, content) if content else "",
        has_changed=form.data.get(form.add_prefix("version")) != str(note.version),
    )


@page_for(*SEES_NOTE)
def delete_or_restore(request: HttpRequest, note_id: uuid.UUID, name: str) -> HttpResponse:
    """Delete or restore a note with a reason, or show the form again with what is wrong."""
    deletes = name == "delete"
    note = get_note(note_id, deleted=not deletes)
    if request.method != "POST":
        return redirect_to(note, anchor=f"#{name}")
    form = ReasonForm(request.POST, prefix=name)

    @transaction.atomic
    def write() -> HttpResponse:
        reason = form.cleaned_data["reason"]
        if deletes:
            actor = request.user.get_username()
            services.delete_note(tenant=note.tenant, actor=actor, note_id=note.id)
            messages.success(request, "Deleted: it is neither found nor served any more.")
        else:
            services.restore_note(tenant=note.tenant, note_id=note.id)
            messages.success(request, "Restored, with its links.")
        record_memory(request, note, f"{name}d it: {reason}")
        return redirect_to(note)

    title = f"{name.capitalize()} a note"
    return submit(form, write) or show_page(
        request, "console/notes/end.html", title=title, form=form, note=note, name=name
    )


def get_note(note_id: uuid.UUID, *, deleted: bool = False) -> Note:
    """Return a note of any tenant, active or deleted.

    Raises:
        Http404: there is none.
    """
    notes = Note.across_tenants.filter(deleted_at__isnull=not deleted)
    return get_object_or_404(notes.select_related("tenant", "conversation"), id=note_id)

"""What curators write: another version of a note, its end, links drawn and removed. On record."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from console.curating import add_problem
from console.curation_forms import ReasonForm
from console.graph_reading import find_memory, name_ends
from console.note_forms import CURATE, DeleteForm, LinkForm, NoteForm, RestoreForm
from console.note_versions import show_change
from console.pages import find_way_back, page_for, show_page
from console.records import record_memory
from memoryproject.errors import Problem
from memoryproject.tenancy.models import Tenant
from notes import linking, services
from notes.kinds import LinkType
from notes.models import Link, Note

SEES_NOTE = ("notes.view_note", CURATE)
SEES_LINK = ("notes.view_link", CURATE)


@page_for(*SEES_NOTE)
def change_note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Write a new version of a note; with `preview`, show the difference only."""
    note = find_held_note(note_id)
    if request.method != "POST":
        return redirect_to_note(note.id, anchor="change")
    form = NoteForm(request.POST, note=note)
    preview = "preview" in request.POST

    def write() -> None:
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

    if form.is_valid() and not preview and do(form, write):
        messages.success(request, "Written. The version before is kept.")
        return redirect_to_note(note.id)
    said = form.cleaned_data.get("content", "") if preview and form.is_valid() else ""
    return show_page(
        request,
        "console/note_change.html",
        title="Change a note",
        status=200 if preview and form.is_valid() else 400,
        form=form,
        note=note,
        difference=show_change(note.content, said) if said else "",
        has_changed=form.data.get(form.add_prefix("version")) != str(note.version),
    )


def do(form: ReasonForm, write: Callable[[], None]) -> bool:
    """Write; return whether it went well, else say in the form what is wrong."""
    try:
        write()
    except Problem as problem:
        add_problem(form, problem)
        return False
    return True


@page_for(*SEES_NOTE)
def delete_note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Take a note away, with a reason."""
    note = find_held_note(note_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)

    def write() -> None:
        with transaction.atomic():
            actor = request.user.get_username()
            services.delete_note(tenant=note.tenant, actor=actor, note_id=note.id)
            record_memory(request, note, f"deleted it: {form.cleaned_data['reason']}")

    done = "Deleted: nothing finds, links or serves it any more."
    return end_or_restore(request, note, form, write, done=done)


@page_for(*SEES_NOTE)
def restore_note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Hold a deleted note again, with a reason."""
    gone = Note.across_tenants.filter(deleted_at__isnull=False).select_related("tenant")
    note = get_object_or_404(gone, id=note_id)
    form = RestoreForm(request.POST if request.method == "POST" else None)

    def write() -> None:
        services.restore_note(tenant=note.tenant, note_id=note.id)
        record_memory(request, note, f"restored it: {form.cleaned_data['reason']}")

    return end_or_restore(request, note, form, write, done="It is held again, with its links.")


def end_or_restore(
    request: HttpRequest,
    note: Note,
    form: DeleteForm | RestoreForm,
    write: Callable[[], None],
    *,
    done: str,
) -> HttpResponse:
    """Do what a form with a reason says, or show it again with what is wrong."""
    name = str(form.prefix)
    if request.method != "POST":
        return redirect_to_note(note.id, anchor=name)
    if form.is_valid() and do(form, write):
        messages.success(request, done)
        return redirect_to_note(note.id)
    title = "Delete a note" if name == "delete" else "Hold a note again"
    return show_page(
        request, "console/note_end.html", title=title, status=400, form=form, note=note, name=name
    )


@page_for(*SEES_LINK)
@require_POST
def draw_link(request: HttpRequest) -> HttpResponse:
    """Draw a link between two memories of one tenant, and go back."""
    form = LinkForm(request.POST)
    if form.is_valid():
        memory = find_memory(form.cleaned_data["from_id"])
        if memory is None:
            raise Http404("There is no such memory.")
        try:
            said = _draw(request, memory.tenant, form.cleaned_data)
        except Problem as problem:
            add_problem(form, problem)
        else:
            messages.success(request, said)
            otherwise = reverse("console:graph", args=[memory.id])
            return redirect(find_way_back(request, otherwise=otherwise))
    return show_page(
        request, "console/link_draw.html", title="Draw a link", status=400, link_form=form
    )


def _draw(request: HttpRequest, tenant: Tenant, given: dict[str, object]) -> str:
    """Draw the link and record it at both ends; return what to tell the person."""
    ends = [uuid.UUID(str(given[name])) for name in ("from_id", "to_id")]
    link_type = LinkType(str(given["link_type"]))
    with transaction.atomic():
        drawn = linking.add_link(
            tenant=tenant,
            actor=request.user.get_username(),
            made_by=Link.MadeBy.PERSON,
            from_id=ends[0],
            to_id=ends[1],
            link_type=link_type,
        )
        if not drawn.is_new:
            return "This link was there already."
        _record_link(request, drawn.link, "drew")
    return "Drawn."


@page_for(*SEES_LINK)
def remove_link(request: HttpRequest, link_id: uuid.UUID) -> HttpResponse:
    """Ask whether to remove a link, and do it."""
    links = Link.across_tenants.select_related("tenant", "from_memory", "to_memory")
    link = get_object_or_404(links, id=link_id)
    start, goal = name_ends(link)
    way_back = reverse("console:graph", args=[link.from_memory_id])
    if request.method == "POST":
        with transaction.atomic():
            _record_link(request, link, "removed")
            linking.remove_link(tenant=link.tenant, link_id=link.id)
        messages.success(request, "Removed. It can be drawn again.")
        if start is None:  # a deleted note: nothing is drawn around it
            way_back = reverse("admin:notes_link_changelist")
        return redirect(find_way_back(request, otherwise=way_back))
    return show_page(
        request,
        "console/link_remove.html",
        title="Remove a link",
        link=link,
        start=start,
        goal=goal,
        way_back=way_back,
    )


def _record_link(request: HttpRequest, link: Link, verb: str) -> None:
    """Put on the record of both memories what was done to a link between them."""
    start, goal = link.from_memory, link.to_memory
    record_memory(request, start, f"{verb} a link: {link.link_type} {goal.kind} {goal.id}")
    record_memory(request, goal, f"{verb} a link: {start.kind} {start.id} {link.link_type} this")


def find_held_note(note_id: uuid.UUID) -> Note:
    """Return a note of any tenant that was not deleted.

    Raises:
        Http404: there is none.
    """
    held = Note.across_tenants.filter(deleted_at=None)
    return get_object_or_404(held.select_related("tenant", "conversation"), id=note_id)


def redirect_to_note(note_id: uuid.UUID, *, anchor: str = "") -> HttpResponseRedirect:
    """Return the way to a note's page."""
    address = reverse("admin:notes_note_change", args=[note_id])
    return redirect(f"{address}{f'#{anchor}' if anchor else ''}")

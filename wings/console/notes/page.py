"""The page of a note: versions, links, servings; changing, deleting and restoring it."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from episodic.revealing import Reader
from indexing.kinds import LINK_WORDS
from indexing.models import Memory
from memoryproject.adminkit.values import pretty_json
from memoryproject.edge.errors import Problem
from retrieval.models import ContextSection
from wings.console.forms import ReasonForm, submit
from wings.console.highlights import mark_difference, show_difference
from wings.console.labels import MemoryLabel, list_servings, name_memories
from wings.console.notes.forms import NoteForm
from wings.console.notes.links import CURATE, LinkForm
from wings.console.pages import (
    Answer,
    admin_page,
    get_row,
    list_records,
    record,
    redirect_to,
)
from wings.console.texts import TEXTS
from wings.navigation import links
from wings.navigation.links import Edge
from wings.notes import services
from wings.notes.models import Note, NoteState, NoteVersion
from wings.notes.queries import earlier_versions

LINKS_AT_MOST = 50
SERVED_AT_MOST = 20
VERSIONS_AT_MOST = 20
COMPARED_AT_MOST = 4_000
"""Length of both texts together up to which they are compared by words, else by lines."""
LINES_AT_MOST = 4_000
CONTEXT = 80
"""Number of characters shown around a change."""
Changes = list[tuple[str, SafeString | str]]
SEES_NOTE = ("notes.view_note", CURATE)


def get_story(request: HttpRequest, note: Note) -> Mapping[str, Any]:
    sees = request.user.has_perm
    versions, older = read_versions(note)
    links = read_links(note, Reader(request.user)) if sees("notes.view_link") else []
    return {
        "conversation": note.conversation,
        "metadata": pretty_json(note.metadata) if note.metadata else "",
        "versions": versions if len(versions) > 1 else [],
        "older": older,
        "links": links[:LINKS_AT_MOST],
        "more_links": len(links) > LINKS_AT_MOST,
        "served": list_servings(note, SERVED_AT_MOST) if sees("retrieval.view_retrieval") else [],
        "contexts": newest_contexts(note) if sees("retrieval.view_context") else [],
        "records": list_records(Memory, note.id),
        **list_actions(request, note),
    }


def list_actions(request: HttpRequest, note: Note) -> dict[str, Any]:
    """Return the forms for changes that the person may make; for a deleted note, restoring."""
    if not request.user.has_perm(CURATE):
        return {}
    if note.deleted_at is not None:
        return {"restore_form": ReasonForm(prefix="restore")}
    like = find_version(note, request.GET.get("like", ""))
    return {
        "may_curate": True,
        "like": like,
        "change_form": NoteForm(note=note, like=like),
        "delete_form": ReasonForm(prefix="delete"),
        "link_form": LinkForm(initial={"from_id": note.id}),
    }


def find_version(note: Note, number: str) -> NoteState | None:
    """Return the earlier version named in the address, to write it again, or None."""
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    return NoteVersion.objects.of(note.tenant).filter(note=note, version=int(number)).first()


def read_links(note: Note, reader: Reader) -> list[tuple[Edge, str, MemoryLabel]]:
    """Return the note's links, newest memories first; one more than is shown."""
    if note.deleted_at is not None:
        return []
    edges = links.links_of(tenant=note.tenant, memory_id=note.id, at_most=LINKS_AT_MOST + 1)
    named = name_memories(
        tenant=note.tenant, memory_ids=[edge.other_id for edge in edges], reader=reader
    )
    return [
        (edge, LINK_WORDS[edge.link_type], named[edge.other_id])
        for edge in edges
        if edge.other_id in named
    ]


def newest_contexts(note: Note) -> Sequence[ContextSection]:
    """Return the newest contexts with the note; contexts are kept for a day."""
    sections = ContextSection.objects.of(note.tenant).filter(memory=note.id)
    newest = sections.select_related("context__made_by").defer("content")
    return list(newest.order_by("-id")[:SERVED_AT_MOST])


def read_versions(note: Note) -> tuple[list[tuple[NoteState, Changes]], bool]:
    """Return a note's newest versions with changes, and whether there are older ones."""
    earlier = list(earlier_versions(note, below=note.version)[: VERSIONS_AT_MOST + 1])
    states: list[NoteState] = [note, *earlier]
    shown = [
        (state, list(compare(before, state)) if before else [])
        for state, before in zip_longest(states, earlier)
    ]
    return shown[:VERSIONS_AT_MOST], len(states) > VERSIONS_AT_MOST


def compare(before: NoteState, after: NoteState) -> Iterator[tuple[str, SafeString | str]]:
    for column, name in TEXTS["note_columns"].items():
        old, new = getattr(before, column), getattr(after, column)
        if old != new:
            yield name, show_change(_render(old), _render(new))
    if before.metadata != after.metadata:
        yield "metadata", "other ones"


def _render(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def show_change(old: str, new: str) -> SafeString:
    """Return both texts as one, escaped; equal parts are shown only next to changes.

    Equal beginnings and ends are cut off first, so that a small change of a long text is fast; a
    long rest is compared by lines.
    """
    head = _count_same(old, new)
    tail = _count_same(old[head:][::-1], new[head:][::-1])
    deleted, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    lead = old[:head][-CONTEXT:]
    follow = old[len(old) - tail :][:CONTEXT]
    return format_html(
        "{}{}{}{}{}",
        "… " if head > CONTEXT else "",
        lead,
        show_difference(deleted, inserted)
        if len(deleted + inserted) <= COMPARED_AT_MOST
        else _by_lines(deleted, inserted),
        follow,
        " …" if tail > CONTEXT else "",
    )


def _count_same(one: str, other: str) -> int:
    """Return the length of the common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _by_lines(old: str, new: str) -> SafeString:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(before) + len(after) > LINES_AT_MOST:
        before, after = [old], [new]
    return mark_difference(before, after, shorten=_shorten)


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * CONTEXT else f"{text[:CONTEXT]} … {text[-CONTEXT:]}"


@admin_page("console/notes/change.html", "Change a note", *SEES_NOTE)
def change_note(request: HttpRequest, note_id: uuid.UUID) -> Answer:
    """Write a new version of a note; with `preview`, only show the difference."""
    note = get_row(Note, note_id, "conversation", deleted_at=None)
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
        record(request, changed, f"wrote version {changed.version}: {reason}")
        messages.success(request, "Written. The earlier version is kept.")
        return redirect_to(note)

    content = form.cleaned_data.get("content", "") if preview and form.is_valid() else ""
    return (None if preview else submit(form, write)) or {
        "form": form,
        "note": note,
        "difference": show_change(note.content, content) if content else "",
        "has_changed": form.data.get(form.add_prefix("version")) != str(note.version),
    }


@admin_page("console/notes/end.html", "Delete or restore a note", *SEES_NOTE)
def delete_or_restore(request: HttpRequest, note_id: uuid.UUID, name: str) -> Answer:
    """Delete or restore a note with a reason, or show the form again with the errors."""
    deletes = name == "delete"
    note = get_row(Note, note_id, "conversation", deleted_at__isnull=deletes)
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
        record(request, note, f"{name}d it: {reason}")
        return redirect_to(note)

    title = f"{name.capitalize()} a note"
    return submit(form, write) or {"title": title, "form": form, "note": note, "name": name}

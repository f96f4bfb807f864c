"""The page of a note: its versions, links, the answers and contexts it was served in, and acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from console.action_log import list_records
from console.forms import ReasonForm
from console.graph.links import CURATE, SEEN_BY, LinkForm
from console.graph.neighbourhood import MemoryLabel, name_memories
from console.notes.forms import NoteForm
from console.notes.versions import read_versions
from console.servings import list_servings
from indexing.models import Memory
from memoryproject.adminkit.values import pretty_json
from notes.models import Note, NoteState, NoteVersion
from retrieval import links
from retrieval.links import Edge
from retrieval.models import ContextSection

LINKS_AT_MOST = 50
SERVED_AT_MOST = 20


def get_story(request: HttpRequest, note: Note) -> Mapping[str, Any]:
    """Return what stands above a note's columns."""
    sees = request.user.has_perm
    versions, older = read_versions(note)
    links = read_links(note) if sees("notes.view_link") else []
    return {
        "conversation": note.conversation,
        "is_described": bool(note.description) and note.description not in note.content,
        "metadata": pretty_json(note.metadata) if note.metadata else "",
        "versions": versions if len(versions) > 1 else [],
        "older": older,
        "sees_graph": request.user.has_perms(SEEN_BY) and note.deleted_at is None,
        "links": links[:LINKS_AT_MOST],
        "more_links": len(links) > LINKS_AT_MOST,
        "served": list_servings(note, at_most=SERVED_AT_MOST)
        if sees("retrieval.view_retrieval")
        else [],
        "contexts": newest_contexts(note) if sees("retrieval.view_context") else [],
        "records": list_records(Memory, note.id),
        **list_actions(request, note),
    }


def list_actions(request: HttpRequest, note: Note) -> dict[str, Any]:
    """Return the forms by which the person may change the note; of a deleted one, restore it."""
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
    """Return the earlier version that the address names, to write it anew; None: none."""
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    return NoteVersion.objects.of(note.tenant).filter(note=note, version=int(number)).first()


def read_links(note: Note) -> list[tuple[Edge, str, MemoryLabel]]:
    """Return the note's links, newest memories first, with type and label; one more than shown."""
    if note.deleted_at is not None:
        return []
    edges = links.links_of(tenant=note.tenant, memory_id=note.id, at_most=LINKS_AT_MOST + 1)
    named = name_memories(tenant=note.tenant, memory_ids=[edge.other_id for edge in edges])
    return [
        (edge, edge.link_type.replace("_", " "), named[edge.other_id])
        for edge in edges
        if edge.other_id in named
    ]


def newest_contexts(note: Note) -> Sequence[ContextSection]:
    """Return the newest contexts that hold the note; they are kept for a day."""
    sections = ContextSection.objects.of(note.tenant).filter(memory=note.id)
    newest = sections.select_related("context__made_by").defer("content")
    return list(newest.order_by("-id")[:SERVED_AT_MOST])

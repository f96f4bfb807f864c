"""The page of a note: what it says, what it was before, what it is linked with, who was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from console.graph_page import SEEN_BY, page_of
from console.graph_reading import Named, name_ends, name_memories
from console.note_forms import CURATE, DeleteForm, LinkForm, NoteForm, RestoreForm
from console.note_versions import read_versions
from console.records import records_of_memory
from memoryproject.admin_values import pretty_json
from notes.kinds import SourceType
from notes.models import Link, Note, NoteState, NoteVersion
from retrieval import navigation
from retrieval.models import ContextSection, RetrievalHit
from retrieval.navigation import Edge

LINKS_AT_MOST = 50
SERVED_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Linked:
    """A link of the note, and the memory at its other end."""

    edge: Edge
    other: Named
    page: str

    @property
    def says(self) -> str:
        """The type in words."""
        return self.edge.link_type.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a plan: how many of its steps are in one state, and how many stand before."""

    start: int
    count: int
    tone: str


def tell(request: HttpRequest, note: Note) -> Mapping[str, Any]:
    """Return what stands above a note's columns."""
    sees = request.user.has_perm
    versions, older = read_versions(note)
    links = read_links(note) if sees("notes.view_link") else []
    return {
        "conversation": note.conversation,
        "is_described": bool(note.description) and note.description not in note.content,
        "summary": tell_summary(note),
        "metadata": pretty_json(note.metadata) if note.metadata else "",
        "versions": versions if len(versions) > 1 else [],
        "older": older,
        "sees_graph": request.user.has_perms(SEEN_BY) and note.deleted_at is None,
        "links": links[:LINKS_AT_MOST],
        "more_links": len(links) > LINKS_AT_MOST,
        "served": newest_servings(note) if sees("retrieval.view_retrieval") else [],
        "contexts": newest_contexts(note) if sees("retrieval.view_context") else [],
        "records": records_of_memory(note.id),
        **tell_acts(request, note),
    }


def tell_acts(request: HttpRequest, note: Note) -> dict[str, Any]:
    """Return the forms by which the person may change the note; of a deleted one, restore it."""
    if not request.user.has_perm(CURATE):
        return {}
    if note.deleted_at is not None:
        return {"restore_form": RestoreForm()}
    like = find_version(note, request.GET.get("like", ""))
    return {
        "may_curate": True,
        "like": like,
        "change_form": NoteForm(note=note, like=like),
        "delete_form": DeleteForm(),
        "link_form": LinkForm(initial={"from_id": note.id}),
    }


def find_version(note: Note, number: str) -> NoteState | None:
    """Return the earlier version that the address names, to write it anew; None: none."""
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    return NoteVersion.objects.of(note.tenant).filter(note=note, version=int(number)).first()


def tell_summary(note: Note) -> dict[str, Any]:
    """Return what a summary's metadata come to, for words and a bar; empty for other notes."""
    told = note.metadata
    if note.source_type == SourceType.THREAD_SUMMARY and told:
        return {"thread": told, "points": told.get("key_points", [])}
    if note.source_type == SourceType.PLAN_SUMMARY and told:
        return {"plan": told, "parts": _tell_parts(told), "points": told.get("key_milestones", [])}
    return {}


def _tell_parts(plan: Mapping[str, Any]) -> list[Part]:
    parts, start = [], 0
    for name, tone in (("completed", "good"), ("failed", "bad")):
        parts.append(Part(start, plan.get(f"{name}_nodes", 0), tone))
        start += parts[-1].count
    return [*parts, Part(start, plan.get("total_nodes", 0) - start, "")]


def read_links(note: Note) -> list[Linked]:
    """Return the note's links, to the newest memories first; one more than are shown."""
    if note.deleted_at is not None:
        return []
    edges = navigation.links_of(tenant=note.tenant, memory_id=note.id, at_most=LINKS_AT_MOST + 1)
    named = name_memories(tenant=note.tenant, memory_ids=[edge.other_id for edge in edges])
    return [
        Linked(edge, named[edge.other_id], page_of(named[edge.other_id]))
        for edge in edges
        if edge.other_id in named
    ]


def newest_servings(note: Note) -> Sequence[RetrievalHit]:
    """Return the newest answers that served the note. Uses index: retrieval_hit_by_memory."""
    hits = RetrievalHit.objects.of(note.tenant).filter(memory_id=note.id)
    return list(hits.select_related("retrieval__asked_by").order_by("-id")[:SERVED_AT_MOST])


def newest_contexts(note: Note) -> Sequence[ContextSection]:
    """Return the newest contexts that hold the note; they are kept for a day."""
    sections = ContextSection.objects.of(note.tenant).filter(memory=note.id)
    newest = sections.select_related("context__made_by").defer("content")
    return list(newest.order_by("-id")[:SERVED_AT_MOST])


def tell_link(request: HttpRequest, link: Link) -> Mapping[str, Any]:
    """Return what stands above a link's columns: both ends by their words."""
    start, goal = name_ends(link)
    return {
        "start": start,
        "goal": goal,
        "start_page": page_of(start) if start else "",
        "goal_page": page_of(goal) if goal else "",
        "says": link.link_type.replace("_", " "),
        "sees_graph": start is not None and request.user.has_perms(SEEN_BY),
        "may_curate": request.user.has_perm(CURATE),
    }

"""Links: their page, creating and deleting them, on record; and the graph around a memory."""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from console.forms import submit
from console.labels import MemoryLabel, name_memories
from console.pages import action_for, find_way_back, page_for, record_memory, show_page
from indexing.models import Memory
from memoryproject.tenancy.models import Tenant
from notes import link_services
from notes.kinds import LinkType
from notes.models import Link
from retrieval import links
from retrieval.links import Between, Node, neighbours

SEEN_BY = ("notes.view_link", "notes.view_note", "semantic.view_fact", "episodic.view_episode")
CURATE = "notes.curate_note"
SEES_LINK = ("notes.view_link", CURATE)
AN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
ADDRESS_AT_MOST = 500
NODES_AT_MOST = 60
"""Beside the centre."""


class LinkForm(forms.Form):
    """A link from one memory to another."""

    from_id = forms.UUIDField(widget=forms.HiddenInput)
    link_type = forms.ChoiceField(
        label="This memory …",
        choices=[(kind.value, kind.value.replace("_", " ")) for kind in LinkType],
    )
    to_id = forms.CharField(
        label="… the other one",
        max_length=ADDRESS_AT_MOST,
        help_text="The address of its page, or its id.",
        error_messages={"required": "Say which: the address of its page, or its id."},
    )

    def clean_to_id(self) -> uuid.UUID:
        """Return the last id that the text holds: addresses of pages end in it."""
        ids = AN_ID.findall(self.cleaned_data["to_id"])
        if not ids:
            raise forms.ValidationError("There is no id in this. Copy the address of its page.")
        return uuid.UUID(ids[-1])


def get_link_story(request: HttpRequest, link: Link) -> Mapping[str, Any]:
    """Return what stands above a link's columns: both ends by their words."""
    start, goal = name_ends(link)
    return {
        "start": start,
        "goal": goal,
        "says": link.link_type.replace("_", " "),
        "sees_graph": start is not None and request.user.has_perms(SEEN_BY),
    }


@action_for(*SEES_LINK)
def create_link(request: HttpRequest) -> HttpResponse:
    """Create a link between two memories of one tenant, and go back."""
    form = LinkForm(request.POST)

    @transaction.atomic
    def create() -> HttpResponse:
        params = form.cleaned_data
        memory = find_memory(params["from_id"])
        if memory is None:
            raise Http404("There is no such memory.")
        link, is_new = link_services.add_link(
            tenant=memory.tenant,
            actor=request.user.get_username(),
            made_by=Link.MadeBy.PERSON,
            from_id=params["from_id"],
            to_id=params["to_id"],
            link_type=LinkType(params["link_type"]),
        )
        if is_new:
            _record_link(request, link, "created")
        messages.success(request, "Created." if is_new else "This link was there already.")
        graph = reverse("console:graph", args=[memory.id])
        return redirect(find_way_back(request, otherwise=graph))

    return submit(form, create) or show_page(
        request, "console/graph/link_create.html", title="Create a link", status=400, link_form=form
    )


@page_for(*SEES_LINK)
def delete_link(request: HttpRequest, link_id: uuid.UUID) -> HttpResponse:
    """Ask whether to remove a link, and do it."""
    links = Link.across_tenants.select_related("tenant", "from_memory", "to_memory")
    link = get_object_or_404(links, id=link_id)
    start, goal = name_ends(link)
    way_back = reverse("console:graph", args=[link.from_memory_id])
    if request.method == "POST":
        with transaction.atomic():
            _record_link(request, link, "deleted")
            link_services.delete_link(tenant=link.tenant, link_id=link.id)
        messages.success(request, "Deleted. It can be created again.")
        if start is None:  # a deleted note has no graph
            way_back = reverse("admin:notes_link_changelist")
        return redirect(find_way_back(request, otherwise=way_back))
    return show_page(
        request,
        "console/graph/link_delete.html",
        title="Delete a link",
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


class Graph(NamedTuple):
    """A memory and its neighbourhood. `cut`: there is more within the depth than is shown.

    `hidden` says of each memory how many it is linked with that are not shown, of its newest
    neighbours.
    """

    centre: MemoryLabel
    nodes: Sequence[Node]
    named: dict[uuid.UUID, MemoryLabel]
    links: Sequence[Between]
    hidden: dict[uuid.UUID, int]
    cut: bool


def read_graph(
    *, tenant: Tenant, centre: uuid.UUID, depth: int, link_types: Sequence[str]
) -> Graph | None:
    """Return what lies around a memory, in nine statements, however much it is.

    None: the tenant has no such memory, or it is a note that was deleted.
    """
    named = name_memories(tenant=tenant, memory_ids=[centre])
    if centre not in named:
        return None
    walk = links.walk(
        tenant=tenant, start=centre, depth=depth, at_most=NODES_AT_MOST, link_types=link_types
    )
    named |= name_memories(tenant=tenant, memory_ids=[node.id for node in walk.nodes])
    nodes = list(_within_reach(walk.nodes, centre, named))
    shown = [centre, *(node.id for node in nodes)]
    beside = neighbours(tenant=tenant, memory_ids=shown)
    return Graph(
        centre=named[centre],
        nodes=nodes,
        named={memory_id: named[memory_id] for memory_id in shown},
        links=links.links_between(tenant=tenant, memory_ids=shown, link_types=link_types),
        hidden={memory_id: len(set(ids).difference(shown)) for memory_id, ids in beside.items()},
        cut=walk.cut,
    )


def _within_reach(
    nodes: Sequence[Node], centre: uuid.UUID, named: dict[uuid.UUID, MemoryLabel]
) -> Iterator[Node]:
    """Yield the nodes that have words, by a path of such: a row may go while it is read."""
    kept = {centre}
    for node in nodes:
        if node.id in named and node.via in kept:
            kept.add(node.id)
            yield node


def find_memory(memory_id: uuid.UUID) -> Memory | None:
    """Return a memory of any tenant, with its tenant; None: there is none of that id."""
    return Memory.across_tenants.select_related("tenant").filter(id=memory_id).first()


def name_ends(link: Link) -> tuple[MemoryLabel | None, MemoryLabel | None]:
    """Return both ends of a link by their words; None: a note that was deleted."""
    ends = (link.from_memory_id, link.to_memory_id)
    named = name_memories(tenant=link.tenant, memory_ids=ends)
    return named.get(ends[0]), named.get(ends[1])

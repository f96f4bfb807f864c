"""The graph page: the neighbourhood of a memory as a picture and as a table."""

from __future__ import annotations

import uuid

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import urlencode

from console.action_log import list_records
from console.graph.links import CURATE, SEEN_BY, LinkForm
from console.graph.neighbourhood import (
    NODES_AT_MOST,
    Graph,
    MemoryLabel,
    find_memory,
    read_graph,
)
from console.graph.picture import render_picture
from console.pages import page_for, show_page
from indexing.models import Memory
from notes.kinds import LINK_TYPES
from retrieval.links import Between

DEPTHS = {1: "1 step", 2: "2 steps", 3: "3 steps"}
DEPTH = 2


class GraphForm(forms.Form):
    """How far to go, and by which links; none chosen: by all."""

    depth = forms.TypedChoiceField(required=False, coerce=int, choices=list(DEPTHS.items()))
    types = forms.MultipleChoiceField(
        required=False, choices=[(word, word.replace("_", " ")) for word in LINK_TYPES]
    )


@page_for(*SEEN_BY)
def show_graph(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Draw what lies around a memory, up to three steps and sixty memories."""
    memory, form = find_memory(memory_id), GraphForm(request.GET)
    params = form.cleaned_data if form.is_valid() else {}
    depth, types = params.get("depth") or DEPTH, params.get("types", [])
    if memory is None:
        raise Http404("There is no such memory.")
    graph = read_graph(
        tenant=memory.tenant, centre=memory.id, depth=depth, link_types=types or LINK_TYPES
    )
    if graph is None:
        raise Http404("There is no such memory.")
    query = urlencode([("depth", depth), *(("types", word) for word in types)])
    may_link = request.user.has_perm(CURATE)
    return show_page(
        request,
        "console/graph/graph.html",
        title="Graph",
        graph=graph,
        picture=render_picture(graph, query=query),
        rows=list_links(graph),
        records=list_records(Memory, memory_id),
        depth=depth,
        depths=DEPTHS,
        types=[(word, word.replace("_", " "), word in types) for word in LINK_TYPES],
        narrowed=bool(types),
        at_most=NODES_AT_MOST,
        link_form=LinkForm(initial={"from_id": memory_id}) if may_link else None,
    )


def list_links(graph: Graph) -> list[tuple[Between, str, MemoryLabel, MemoryLabel]]:
    """Return the links, nearest to the centre first, with the type in words and both ends."""
    place = {memory_id: at for at, memory_id in enumerate(graph.named)}
    links = sorted(
        graph.links,
        key=lambda link: (*sorted((place[link.from_id], place[link.to_id])), link.link_type),
    )
    return [
        (link, link.link_type.replace("_", " "), graph.named[link.from_id], graph.named[link.to_id])
        for link in links
    ]

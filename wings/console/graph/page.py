"""The graph page: the links of a memory's neighborhood, as a table."""

import uuid
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django import forms
from django.http import Http404, HttpRequest
from django.utils.http import urlencode

from episodic.revealing import Reader
from indexing.kinds import LINK_TYPES, LINK_WORDS
from indexing.models import Memory
from wings.console.graph.links import SEEN_BY, LinkForm
from wings.console.labels import MemoryLabel, name_memories
from wings.console.pages import Answer, admin_page, get_row, list_records
from wings.navigation import links
from wings.navigation.links import Between, Node

DEPTHS = {1: "1 step", 2: "2 steps", 3: "3 steps"}
DEPTH = 2
NODES_AT_MOST = 60
"""Number of memories beside the center."""


class GraphForm(forms.Form):
    """How many steps to go, and by which links; none chosen: by all."""

    depth = forms.TypedChoiceField(required=False, coerce=int, choices=list(DEPTHS.items()))
    types = forms.MultipleChoiceField(required=False, choices=list(LINK_WORDS.items()))


@admin_page("console/graph/graph.html", "Graph", *SEEN_BY)
def show_graph(request: HttpRequest, memory_id: uuid.UUID) -> Answer:
    """Show the memories around one, up to three steps and sixty memories."""
    memory, form = get_row(Memory, memory_id), GraphForm(request.GET)
    params = form.cleaned_data if form.is_valid() else {}
    depth, types = params.get("depth") or DEPTH, params.get("types", [])
    graph = read_graph(memory, Reader(request.user), depth=depth, link_types=types or LINK_TYPES)
    return {
        "graph": graph,
        "rows": list_links(graph),
        "records": list_records(Memory, memory_id),
        "depth": depth,
        "kept": urlencode([("depth", depth), *(("types", word) for word in types)]),
        "depths": DEPTHS,
        "types": [(name, words, name in types) for name, words in LINK_WORDS.items()],
        "narrowed": bool(types),
        "at_most": NODES_AT_MOST,
        "link_form": LinkForm(initial={"from_id": memory_id}),
    }


class Graph(NamedTuple):
    """A memory and its neighborhood. `cut`: there is more within the depth than is shown."""

    centre: MemoryLabel
    nodes: Sequence[Node]
    named: dict[uuid.UUID, MemoryLabel]
    links: Sequence[Between]
    cut: bool


def read_graph(memory: Memory, reader: Reader, *, depth: int, link_types: Sequence[str]) -> Graph:
    """Return the memories around one, by eight statements; raise Http404 for a deleted note."""
    tenant, centre = memory.tenant, memory.id
    named = name_memories(tenant=tenant, memory_ids=[centre], reader=reader)
    if centre not in named:
        raise Http404("There is no such memory.")
    walk = links.walk(
        tenant=tenant, start=centre, depth=depth, at_most=NODES_AT_MOST, link_types=link_types
    )
    named |= name_memories(
        tenant=tenant, memory_ids=[node.id for node in walk.nodes], reader=reader
    )
    nodes = list(_within_reach(walk.nodes, centre, named))
    shown = [centre, *(node.id for node in nodes)]
    return Graph(
        centre=named[centre],
        nodes=nodes,
        named={memory_id: named[memory_id] for memory_id in shown},
        links=links.links_between(tenant=tenant, memory_ids=shown, link_types=link_types),
        cut=walk.cut,
    )


def _within_reach(
    nodes: Sequence[Node], centre: uuid.UUID, named: dict[uuid.UUID, MemoryLabel]
) -> Iterator[Node]:
    """Yield the nodes with labels that are reached through such: rows may disappear meanwhile."""
    kept = {centre}
    for node in nodes:
        if node.id in named and node.via in kept:
            kept.add(node.id)
            yield node


def list_links(graph: Graph) -> list[tuple[Between, str, MemoryLabel, MemoryLabel]]:
    """Return the links, nearest to the center first, with type in words and both ends."""
    place = {memory_id: at for at, memory_id in enumerate(graph.named)}
    return [
        (link, LINK_WORDS[link.link_type], graph.named[link.from_id], graph.named[link.to_id])
        for link in sorted(
            graph.links,
            key=lambda link: (*sorted((place[link.from_id], place[link.to_id])), link.link_type),
        )
    ]

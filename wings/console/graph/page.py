"""The graph page: the neighborhood of a memory as a picture and as a table.

The picture has boxes and lines: trees left and right of the center, and its links. The page's style
sheet arranges the trees, and its script draws the lines between the boxes. Memories that the center
points to are on the right, those that point to it on the left; if one side would be far longer,
both sides share them.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django import forms
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from episodic.revealing import Reader
from indexing.kinds import LINK_TYPES, LINK_WORDS, LinkType
from indexing.models import Memory
from wings.console.graph.links import SEEN_BY, LinkForm
from wings.console.labels import MemoryLabel, name_memories
from wings.console.pages import Answer, admin_page, get_row, list_records
from wings.navigation import links
from wings.navigation.links import Between, Node

DEPTHS = {1: "1 step", 2: "2 steps", 3: "3 steps"}
DEPTH = 2
LEFT, RIGHT = "left", "right"
LEAVES_ON_ONE_SIDE = 14
NODES_AT_MOST = 60
"""Number of memories beside the center."""
Pair = frozenset[uuid.UUID]


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
    query = urlencode([("depth", depth), *(("types", word) for word in types)])
    return {
        "graph": graph,
        "picture": render_picture(graph, query=query),
        "rows": list_links(graph),
        "records": list_records(Memory, memory_id),
        "depth": depth,
        "depths": DEPTHS,
        "types": [(name, words, name in types) for name, words in LINK_WORDS.items()],
        "narrowed": bool(types),
        "at_most": NODES_AT_MOST,
        "link_form": LinkForm(initial={"from_id": memory_id}),
    }


class Graph(NamedTuple):
    """A memory and its neighborhood. `cut`: there is more within the depth than is shown.

    `hidden`: number of each memory's newest neighbors that are not shown.
    """

    centre: MemoryLabel
    nodes: Sequence[Node]
    named: dict[uuid.UUID, MemoryLabel]
    links: Sequence[Between]
    hidden: dict[uuid.UUID, int]
    cut: bool


def read_graph(memory: Memory, reader: Reader, *, depth: int, link_types: Sequence[str]) -> Graph:
    """Return the memories around one, by nine statements; raise Http404 for a deleted note."""
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
    beside = links.neighbours(tenant=tenant, memory_ids=shown)
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


@dataclass(slots=True)
class Box:
    """A memory of the picture, with those reached from it."""

    named: MemoryLabel
    caption: str
    hidden: int
    """Number of linked memories that are not shown."""
    href: str
    """Address of the graph around it."""
    children: list[Box] = field(default_factory=list)

    @property
    def leaves(self) -> int:
        return sum(child.leaves for child in self.children) or 1

    @property
    def depth(self) -> int:
        return 1 + max((child.depth for child in self.children), default=0)


def render_picture(graph: Graph, *, query: str) -> dict[str, Any]:
    """Return the picture of a graph; `query` is added to the addresses of other graphs.

    At most `columns` boxes are side by side, and `rows` one below the other.
    """
    pairs: dict[Pair, list[Between]] = defaultdict(list)
    for link in graph.links:  # none leads from a memory to itself: a constraint
        pairs[frozenset((link.from_id, link.to_id))].append(link)
    boxes = {
        node.id: Box(
            named=graph.named[node.id],
            caption="",
            hidden=graph.hidden[node.id],
            href=f"{reverse('console:graph', args=[node.id])}?{query}",
        )
        for node in graph.nodes
    }
    for node in graph.nodes:
        if node.via in boxes:
            boxes[node.via].children.append(boxes[node.id])
    near = [node for node in graph.nodes if node.via == graph.centre.id]
    sides = _choose_sides(near, boxes)
    for node in graph.nodes:
        sides.setdefault(node.id, sides.get(node.via, RIGHT))
        links = pairs.get(frozenset((node.id, node.via)), [])
        boxes[node.id].caption = _caption(node, links, side=sides[node.id])
    trees = {
        side: [boxes[node.id] for node in near if sides[node.id] == side] for side in (LEFT, RIGHT)
    }
    return {
        "centre": graph.centre,
        "trees": trees,
        "lines": _draw_lines(graph.nodes, pairs),
        "columns": 1 + sum(max((box.depth for box in side), default=0) for side in trees.values()),
        "rows": max(sum(box.leaves for box in side) for side in trees.values()),
    }


def _choose_sides(near: Sequence[Node], boxes: dict[uuid.UUID, Box]) -> dict[uuid.UUID, str]:
    """Return the side of each neighbor of the center."""
    sides = {node.id: RIGHT if node.outward else LEFT for node in near}
    sizes = dict.fromkeys((LEFT, RIGHT), 0)
    for memory_id, side in sides.items():
        sizes[side] += boxes[memory_id].leaves
    if max(sizes.values()) <= max(LEAVES_ON_ONE_SIDE, 2 * min(sizes.values())):
        return sides
    filled = 0
    for node in near:  # the first half of all leaves is on the right
        sides[node.id] = RIGHT if 2 * filled < sum(sizes.values()) else LEFT
        filled += boxes[node.id].leaves
    return sides


def _caption(node: Node, links: Sequence[Between], *, side: str) -> str:
    """Return the relation of a memory to the one it was reached from, with arrows."""
    captions = []
    for link in links:
        arrow = "→" if (link.from_id == node.via) == (side == RIGHT) else "←"
        name = LINK_WORDS[link.link_type]
        captions.append(f"{arrow} {name}" if side == RIGHT else f"{name} {arrow}")
    return ", ".join(captions) or LINK_WORDS[node.link_type]


def _draw_lines(nodes: Sequence[Node], pairs: dict[Pair, list[Between]]) -> list[dict[str, Any]]:
    """Return a line for each pair of linked memories, for the page's script.

    Links along which boxes were reached are named in the box; other lines have their own name.
    """
    via = {frozenset((node.id, node.via)): node.via for node in nodes}
    lines = []
    for pair, drawn in pairs.items():
        start = via.get(pair, drawn[0].from_id)
        (end,) = pair - {start}
        names = dict.fromkeys(LINK_WORDS[link.link_type] for link in drawn)
        lines.append(
            {
                "from": str(start),
                "to": str(end),
                "tone": _tone(drawn),
                "name": "" if pair in via else ", ".join(names),
                "starts": any(link.to_id == start for link in drawn),
                "ends": any(link.to_id == end for link in drawn),
            }
        )
    return lines


def _tone(links: Sequence[Between]) -> str:
    if any(link.link_type == LinkType.CONTRADICTS for link in links):
        return "against"
    return "drawn" if any(link.link_id for link in links) else "derived"

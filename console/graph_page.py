"""The page that draws what lies around a memory, and tells the same links as a table."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from console import graph_layout
from console.graph_curves import draw_curve, place_name
from console.graph_layout import Box, Layout, Point, Step
from console.graph_reading import NODES_AT_MOST, Graph, Named, find_memory, read_graph
from console.graph_words import CAPTION_PX, wrap
from console.note_forms import CURATE, LinkForm
from console.pages import page_for, show_page
from console.records import records_of_memory
from memoryproject.admin_values import MEMORY_PAGES
from notes.kinds import LINK_TYPES, LinkType
from retrieval.navigation import Between

SEEN_BY = ("notes.view_link", "notes.view_note", "semantic.view_fact", "episodic.view_episode")
DEPTHS = {1: "1 step", 2: "2 steps", 3: "3 steps"}
DEPTH = 2
TONES = ("derived", "drawn", "against")
CURVES_WITH_NAMES = 16
"""Curves beside those that hold the picture together: of more the names would cover it."""


class GraphForm(forms.Form):
    """How far to go, and by which links."""

    depth = forms.TypedChoiceField(required=False, coerce=int, choices=list(DEPTHS.items()))
    types = forms.MultipleChoiceField(
        required=False, choices=[(word, word.replace("_", " ")) for word in LINK_TYPES]
    )


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A memory in the picture."""

    named: Named
    box: Box
    caption: str
    lines: Sequence[tuple[float, str]]
    """Each with the height at which it stands."""
    hidden: int
    is_centre: bool
    page: str
    here: str
    """The address of the graph around it."""

    @property
    def text_x(self) -> float:
        """Where its lines begin."""
        clear = graph_layout.RING / 2 if self.box.side < 0 else 0  # of the circle at that edge
        return self.box.x + graph_layout.PADDING + clear

    @property
    def caption_y(self) -> float:
        """Where its first line stands."""
        return self.box.y + graph_layout.PADDING + 8

    @property
    def fold(self) -> str:
        """The outline of a note: a sheet with a folded corner."""
        box, corner = self.box, 12.0
        x, y, right, end = box.x, box.y, box.right, box.y + box.height
        return (
            f"M{x:.1f} {y:.1f} H{right - corner:.1f} L{right:.1f} {y + corner:.1f} "
            f"V{end:.1f} H{x:.1f} Z M{right - corner:.1f} {y:.1f} V{y + corner:.1f} H{right:.1f}"
        )

    @property
    def mark(self) -> str:
        """What stands in the circle that leads to the graph around it."""
        return f"+{min(self.hidden, 99)}" if self.hidden else "◎"


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A line of the picture: all links between two memories."""

    path: str
    tone: str
    """derived, drawn, or against."""
    starts: bool
    """Whether a link points at where the line begins."""
    ends: bool
    name: str
    place: Point | None
    """Where its name stands; None: there is no room, or it stands in a box."""
    holds: bool
    """Whether the walk went along it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A link in the table."""

    link: Between
    start: Named
    goal: Named

    @property
    def says(self) -> str:
        """The type in words."""
        return self.link.link_type.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the page goes, and by which links; none: by all."""

    depth: int = DEPTH
    types: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The same in an address."""
        return urlencode([("depth", self.depth), *(("types", word) for word in self.types)])


@page_for(*SEEN_BY)
def show_graph(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Draw what lies around a memory, up to three steps and sixty memories."""
    memory, reach = find_memory(memory_id), read_reach(request)
    types = reach.types or LINK_TYPES
    if memory is None:
        raise Http404("There is no such memory.")
    graph = read_graph(tenant=memory.tenant, centre=memory.id, depth=reach.depth, link_types=types)
    if graph is None:
        raise Http404("There is no such memory.")
    return show_page(
        request,
        "console/graph.html",
        title="What a memory is linked with",
        graph=graph,
        **draw_picture(graph, reach),
        rows=tell_links(graph),
        records=records_of_memory(memory_id),
        depth=reach.depth,
        depths=DEPTHS,
        types=[(word, word.replace("_", " "), word in reach.types) for word in LINK_TYPES],
        narrowed=bool(reach.types),
        at_most=NODES_AT_MOST,
        page=page_of(graph.centre),
        link_form=LinkForm(initial={"from_id": memory_id}) if may_draw(request) else None,
    )


def read_reach(request: HttpRequest) -> Reach:
    """Return how far to go, as the address says; what cannot be read is as if not said."""
    form = GraphForm(request.GET)
    if not form.is_valid():
        return Reach()
    return Reach(form.cleaned_data["depth"] or DEPTH, tuple(form.cleaned_data["types"]))


def draw_picture(graph: Graph, reach: Reach) -> dict[str, Any]:
    """Return what the picture is made of."""
    steps = [Step(node.id, node.via, node.outward) for node in graph.nodes]
    layout = graph_layout.lay_out(graph.centre.id, steps)
    return {
        "layout": layout,
        "tones": TONES,
        "nodes": draw_nodes(graph, layout, reach),
        "edges": draw_edges(graph, layout),
    }


def may_draw(request: HttpRequest) -> bool:
    """Return whether the person may draw and remove links."""
    return bool(request.user.has_perm(CURATE))


def page_of(named: Named) -> str:
    """Return the address of a memory's page."""
    return reverse(f"admin:{MEMORY_PAGES[named.kind]}_change", args=[named.id])


def draw_nodes(graph: Graph, layout: Layout, reach: Reach) -> list[DrawnNode]:
    """Return the memories of the picture, the centre last: it lies above all lines."""
    captions = _caption_nodes(graph, layout)
    drawn = []
    for memory_id, named in reversed(graph.named.items()):
        box = layout.boxes[memory_id]
        is_centre = memory_id == graph.centre.id
        room = box.width - 2 * graph_layout.PADDING - abs(box.side) * graph_layout.RING / 2
        caption = f"{named.kind} · {named.about}" if is_centre else captions[memory_id]
        words = wrap(named.label, width=room, at_most=box.lines)
        first = box.y + graph_layout.PADDING + graph_layout.CAPTION + 10
        drawn.append(
            DrawnNode(
                named=named,
                box=box,
                caption=_fit_caption(caption, room),
                lines=[(first + at * graph_layout.LINE, line) for at, line in enumerate(words)],
                hidden=graph.hidden[memory_id],
                is_centre=is_centre,
                page=page_of(named),
                here=f"{reverse('console:graph', args=[memory_id])}?{reach.asked}",
            )
        )
    return drawn


def _fit_caption(caption: str, room: float) -> str:
    lines = wrap(caption, width=room, at_most=1, px=CAPTION_PX)
    return lines[0] if lines else ""


def _caption_nodes(graph: Graph, layout: Layout) -> dict[uuid.UUID, str]:
    """Return what each memory is to the one it was reached from, with the line's direction."""
    pairs = _pair_links(graph.links)
    captions = {}
    for node in graph.nodes:
        side = layout.boxes[node.id].side
        words = [
            _point(link.link_type.replace("_", " "), outward=link.from_id == node.via, side=side)
            for link in pairs.get(frozenset((node.id, node.via)), [])
        ]
        captions[node.id] = ", ".join(words) or node.link_type.replace("_", " ")
    return captions


def _point(word: str, *, outward: bool, side: int) -> str:
    """Return a type with an arrow, on the side of the line, that points as the line does."""
    rightward = outward == (side > 0)
    arrow = "→" if rightward else "←"
    return f"{arrow} {word}" if side > 0 else f"{word} {arrow}"


def _pair_links(links: Sequence[Between]) -> dict[frozenset[uuid.UUID], list[Between]]:
    pairs: dict[frozenset[uuid.UUID], list[Between]] = defaultdict(list)
    for link in links:  # none leads from a memory to itself: a constraint
        pairs[frozenset((link.from_id, link.to_id))].append(link)
    return pairs


def draw_edges(graph: Graph, layout: Layout) -> list[DrawnEdge]:
    """Return the lines of the picture, those that the walk went along last."""
    steps = {frozenset((node.id, node.via)): node for node in graph.nodes}
    pairs = _pair_links(graph.links)
    names_all = sum(pair not in steps for pair in pairs) <= CURVES_WITH_NAMES
    taken: list[Point] = []
    drawn = []
    for pair, links in pairs.items():
        node = steps.get(pair)
        start = node.via if node else links[0].from_id
        (goal,) = pair - {start}
        curve = draw_curve(layout.boxes[start], layout.boxes[goal], layout)
        name = ", ".join(dict.fromkeys(link.link_type.replace("_", " ") for link in links))
        place = None  # what the walk went along is named in the box that it leads to
        if node is None and names_all:
            place = place_name(name, curve, layout, taken)
        taken += [place] if place else []
        drawn.append(
            DrawnEdge(
                path=curve.path,
                tone=_tone(links),
                starts=any(link.to_id == start for link in links),
                ends=any(link.to_id == goal for link in links),
                name=name,
                place=place,
                holds=node is not None,
            )
        )
    return sorted(drawn, key=lambda edge: edge.holds)


def _tone(links: Sequence[Between]) -> str:
    if any(link.link_type == LinkType.CONTRADICTS for link in links):
        return "against"
    return "drawn" if any(link.link_id for link in links) else "derived"


def tell_links(graph: Graph) -> list[Row]:
    """Return the links as rows, those nearest to the centre first."""
    place = {memory_id: at for at, memory_id in enumerate(graph.named)}
    rows = [Row(link, graph.named[link.from_id], graph.named[link.to_id]) for link in graph.links]
    return sorted(
        rows,
        key=lambda row: (
            min(place[row.start.id], place[row.goal.id]),
            max(place[row.start.id], place[row.goal.id]),
            row.link.link_type,
        ),
    )

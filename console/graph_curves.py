"""The lines of a drawn graph: between boxes, around them, and where their names have room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from console.graph_layout import AROUND, LINE, MARGIN, RING, Box, Layout, Point
from console.graph_words import CAPTION_PX, measure

PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Where along a line its name may stand."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line from one box to another, and the places along it that no box covers."""

    path: str
    free: Sequence[Point]


def draw_curve(start: Box, goal: Box, layout: Layout) -> Curve:
    """Return a line from one box to another: between neighbouring columns, or around the others."""
    columns = sorted({box.x for box in layout.boxes.values()})
    apart = columns.index(goal.x) - columns.index(start.x)
    if apart == 0:
        points = _bend_outward(start, goal)
    elif abs(apart) == 1:
        points = _cross_gap(start, goal)
    else:
        points = _go_around(start, goal, layout)
    return _finish(points, layout)


def _bend_outward(start: Box, goal: Box) -> Sequence[Point]:
    side = start.side or 1
    bend = min(MARGIN - RING - 4, 14 + abs(goal.middle - start.middle) / 14)
    x = start.port(rightward=side > 0)
    ends = (x, start.middle), (x, goal.middle)
    return ends[0], (x + side * bend, start.middle), (x + side * bend, goal.middle), ends[1]


def _cross_gap(start: Box, goal: Box) -> Sequence[Point]:
    rightward = start.x < goal.x
    a = start.port(rightward=rightward), start.middle
    d = goal.port(rightward=not rightward), goal.middle
    half = (d[0] - a[0]) / 2
    return a, (a[0] + half, a[1]), (d[0] - half, d[1]), d


def _go_around(start: Box, goal: Box, layout: Layout) -> Sequence[Point]:
    """Go below everything, or above it, whatever is nearer."""
    below = start.middle + goal.middle >= layout.height
    a, d = ((box.centre, box.y + box.height if below else box.y) for box in (start, goal))
    rim = layout.height - AROUND / 3 if below else AROUND / 3
    nearer = max(a[1], d[1]) if below else min(a[1], d[1])
    reach = rim + (rim - nearer) / 3  # a curve goes three quarters of its way
    return a, (a[0], reach), (d[0], reach), d


def _finish(points: Sequence[Point], layout: Layout) -> Curve:
    """Return the curve; its free places begin with the one nearest to its middle."""
    (a, b, c, d) = points
    path = f"M{a[0]:.1f} {a[1]:.1f} C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in (b, c, d))
    along = [
        (_along(share, a[0], b[0], c[0], d[0]), _along(share, a[1], b[1], c[1], d[1]))
        for share in PLACES
    ]
    boxes = layout.boxes.values()
    return Curve(path, [place for place in along if not any(box.holds(*place) for box in boxes)])


def place_name(name: str, curve: Curve, layout: Layout, taken: Sequence[Point]) -> Point | None:
    """Return where a line's name can stand, in the picture and on no other name; None: nowhere."""
    half = measure(name) * CAPTION_PX / 2
    for x, y in curve.free:
        within = min(max(x, half + 2), layout.width - half - 2)
        if all(abs(within - other[0]) > 2 * half or abs(y - other[1]) > LINE for other in taken):
            return within, y
    return None


def _along(share: float, a: float, b: float, c: float, d: float) -> float:
    rest = 1 - share
    return rest**3 * a + 3 * rest**2 * share * b + 3 * rest * share**2 * c + share**3 * d

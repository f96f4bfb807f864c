"""Where the memories of a drawn graph stand: columns by distance, on both sides of the centre.

Pure and deterministic: the same walk gives the same picture. What the centre points at lies to
its right, what points at it to its left; where one side would be far longer, both share. All
measures are units of the picture, 1 px at its full width.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 1000.0
MARGIN = 44.0
"""Beside the outermost columns: curves between neighbours bend out there."""
AROUND = 36.0
"""Above and below all boxes: there curves go around that would cross columns."""
BOX_WIDTHS = {1: 300.0, 2: 290.0, 3: 246.0, 4: 184.0, 5: 142.0, 6: 118.0, 7: 102.0}
"""By the number of columns; what is left are the gaps between them."""
GAP_AT_MOST = 150.0
LINES_BY_LEAVES = ((5, 3), (11, 2))
"""Of the longer side: up to so many memories have so many lines each; of more, one."""
LEAVES_ON_ONE_SIDE = 14
PADDING = 10.0
RING = 9.0
"""Of the circle on the outer edge of a box."""
CAPTION, LINE = 14.0, 15.0
CENTRE_LINES = 4


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """A memory of the walk, the one it was reached from, and whether the link points away."""

    id: uuid.UUID
    via: uuid.UUID
    outward: bool


@dataclass(frozen=True, slots=True)
class Box:
    """Where a memory stands. `side`: -1 left of the centre, 1 right of it, 0 the centre."""

    x: float
    y: float
    width: float
    height: float
    side: int
    lines: int
    """Lines of its label at most."""

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """Half way down."""
        return self.y + self.height / 2

    @property
    def centre(self) -> float:
        """Half way across."""
        return self.x + self.width / 2

    @property
    def outer(self) -> float:
        """The edge that looks away from the centre."""
        return self.x if self.side < 0 else self.right

    def port(self, *, rightward: bool) -> float:
        """Where lines end on one side: on the outer edge there is a circle in the way."""
        edge = self.right if rightward else self.x
        return edge + self.side * RING if edge == self.outer and self.side else edge

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it, or close by."""
        near = 6.0
        return (
            self.x - near < x < self.right + near
            and self.y - near < y < self.y + self.height + near
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole picture."""

    width: float
    height: float
    boxes: Mapping[uuid.UUID, Box]


def lay_out(centre: uuid.UUID, steps: Sequence[Step]) -> Layout:
    """Return where each memory stands; `steps` come as a walk gives them, nearest first."""
    children: dict[uuid.UUID, list[Step]] = defaultdict(list)
    for step in steps:
        children[step.via].append(step)
    sides = _choose_sides(children, centre)
    leaves = {side: sum(_count_leaves(children, one) for one in sides[side]) for side in sides}
    depths = {side: _depth(children, sides[side]) for side in sides}
    columns = depths[-1] + 1 + depths[1]
    frame = _Frame.of(columns, leaves=max(leaves.values()))
    middle = AROUND + max(
        frame.centre_height / 2, *(count * frame.pitch / 2 for count in leaves.values())
    )
    centre_x = MARGIN + depths[-1] * frame.stride
    boxes = {centre: frame.centre_box(centre_x, middle)}
    for side, roots in sides.items():
        top = middle - leaves[side] * frame.pitch / 2
        for child in roots:
            top = _place(boxes, frame, children, child, centre_x, side, 1, top)
    height = max(box.y + box.height for box in boxes.values()) + AROUND
    return Layout(2 * MARGIN + columns * frame.stride - frame.gap, height, boxes)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The measures that all boxes of a picture share."""

    box_width: float
    gap: float
    lines: int

    @classmethod
    def of(cls, columns: int, *, leaves: int) -> _Frame:
        width = BOX_WIDTHS.get(columns, BOX_WIDTHS[7])
        room = WIDTH - 2 * MARGIN - columns * width
        gap = min(GAP_AT_MOST, room / (columns - 1)) if columns > 1 else 0.0
        lines = next((lines for most, lines in LINES_BY_LEAVES if leaves <= most), 1)
        return cls(width, gap, lines)

    @property
    def stride(self) -> float:
        return self.box_width + self.gap

    @property
    def height(self) -> float:
        return _height_for(self.lines)

    @property
    def pitch(self) -> float:
        return self.height + (14 if self.lines > 1 else 9)

    @property
    def centre_height(self) -> float:
        return _height_for(CENTRE_LINES)

    def centre_box(self, x: float, middle: float) -> Box:
        height = self.centre_height
        return Box(x, middle - height / 2, self.box_width, height, 0, CENTRE_LINES)


def _height_for(lines: int) -> float:
    return 1.5 * PADDING + CAPTION + lines * LINE


def _choose_sides(
    children: Mapping[uuid.UUID, list[Step]], centre: uuid.UUID
) -> dict[int, list[uuid.UUID]]:
    """Return the centre's neighbours on its left and on its right, in order."""
    near = children.get(centre, [])
    sides: dict[int, list[uuid.UUID]] = {-1: [], 1: []}
    for step in near:
        sides[1 if step.outward else -1].append(step.id)
    sizes = {
        side: sum(_count_leaves(children, one) for one in ones) for side, ones in sides.items()
    }
    if max(sizes.values()) <= max(LEAVES_ON_ONE_SIDE, 2 * min(sizes.values())):
        return sides
    shared: dict[int, list[uuid.UUID]] = {-1: [], 1: []}
    filled = 0
    for step in near:  # the first half of all leaves stands on the right
        shared[1 if 2 * filled < sum(sizes.values()) else -1].append(step.id)
        filled += _count_leaves(children, step.id)
    return shared


def _count_leaves(children: Mapping[uuid.UUID, list[Step]], root: uuid.UUID) -> int:
    return sum(_count_leaves(children, one.id) for one in children.get(root, [])) or 1


def _depth(children: Mapping[uuid.UUID, list[Step]], roots: Sequence[uuid.UUID]) -> int:
    return max(
        (1 + _depth(children, [one.id for one in children.get(root, [])]) for root in roots),
        default=0,
    )


def _place(
    boxes: dict[uuid.UUID, Box],
    frame: _Frame,
    children: Mapping[uuid.UUID, list[Step]],
    root: uuid.UUID,
    centre_x: float,
    side: int,
    depth: int,
    top: float,
) -> float:
    """Place a memory beside those that hang on it; return where the next one begins."""
    under = children.get(root, [])
    end = top
    for child in under:
        end = _place(boxes, frame, children, child.id, centre_x, side, depth + 1, end)
    end = end if under else top + frame.pitch
    ends = [boxes[one.id].middle for one in (under[0], under[-1])] if under else [(top + end) / 2]
    middle = sum(ends) / len(ends)
    x = centre_x + side * depth * frame.stride
    boxes[root] = Box(
        x, middle - frame.height / 2, frame.box_width, frame.height, side, frame.lines
    )
    return end

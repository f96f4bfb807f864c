"""Where memories stand in a drawn graph: nothing overlaps, sides mean something, texts fit."""

from __future__ import annotations

import itertools
import uuid
from random import Random

import pytest

from console import graph_curves, graph_layout, graph_words
from console.graph_layout import Box, Layout, Step

CENTRE = uuid.UUID(int=0)


def number(of: int) -> uuid.UUID:
    return uuid.UUID(int=of)


def grow(seed: int, size: int, depth: int) -> list[Step]:
    """Return a walk of any shape, nearest first."""
    chance, levels = Random(seed), [[CENTRE]]
    found: dict[uuid.UUID, tuple[int, Step]] = {}
    for at in range(1, size + 1):
        level = chance.randrange(min(depth, len(levels)))
        via = chance.choice(levels[level])
        step = Step(number(at), via, chance.random() < 0.5)
        found[step.id] = (level + 1, step)
        if len(levels) == level + 1:
            levels.append([])
        levels[level + 1].append(step.id)
    return [step for _, step in sorted(found.values(), key=lambda pair: pair[0])]


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def overlaps(layout: Layout) -> list[tuple[Box, Box]]:
    pairs = itertools.combinations(layout.boxes.values(), 2)
    return [pair for pair in pairs if overlap(*pair)]


@pytest.mark.parametrize("size", [1, 3, 12, 60])
@pytest.mark.parametrize("seed", range(6))
def test_nothing_overlaps_and_all_is_within_the_picture(seed: int, size: int) -> None:
    steps = grow(seed, size, depth=3)
    layout = graph_layout.lay_out(CENTRE, steps)
    assert set(layout.boxes) == {CENTRE, *(step.id for step in steps)}
    assert overlaps(layout) == []
    assert layout.width <= graph_layout.WIDTH + 0.01
    for box in layout.boxes.values():
        assert box.x >= 0 and box.right <= layout.width
        assert box.y >= 0 and box.y + box.height <= layout.height


def test_the_same_walk_gives_the_same_picture() -> None:
    steps = grow(3, 40, depth=3)
    assert graph_layout.lay_out(CENTRE, steps) == graph_layout.lay_out(CENTRE, list(steps))


def test_what_the_centre_points_at_lies_right_and_what_points_at_it_left() -> None:
    steps = [Step(number(1), CENTRE, True), Step(number(2), CENTRE, False)]
    steps.append(Step(number(3), number(2), True))
    boxes = graph_layout.lay_out(CENTRE, steps).boxes
    assert boxes[number(3)].right < boxes[number(2)].x
    assert boxes[number(2)].right < boxes[CENTRE].x < boxes[CENTRE].right < boxes[number(1)].x


def test_a_side_that_would_be_far_longer_is_shared() -> None:
    steps = [Step(number(at), CENTRE, False) for at in range(1, 61)]
    layout = graph_layout.lay_out(CENTRE, steps)
    right = [box for box in layout.boxes.values() if box.side > 0]
    assert len(right) == 30


def test_a_memory_alone_is_a_picture_too() -> None:
    layout = graph_layout.lay_out(CENTRE, [])
    assert set(layout.boxes) == {CENTRE} and layout.height > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_name_stands_on_its_line_and_on_no_memory(seed: int) -> None:
    layout = graph_layout.lay_out(CENTRE, grow(seed, 20, depth=3))
    boxes = list(layout.boxes.values())
    named = 0
    for one, other in itertools.combinations(boxes, 2):
        curve = graph_curves.draw_curve(one, other, layout)
        assert curve.path.startswith("M") and "nan" not in curve.path
        for x, y in curve.free:
            named += 1
            assert 0 <= y <= layout.height
            assert not any(box.holds(x, y) for box in boxes)
    assert named


def test_names_stand_within_the_picture_and_not_on_each_other() -> None:
    steps = [Step(number(at), CENTRE, True) for at in range(1, 9)]
    layout = graph_layout.lay_out(CENTRE, steps)
    taken: list[graph_layout.Point] = []
    for far in range(4, 9):
        curve = graph_curves.draw_curve(layout.boxes[number(1)], layout.boxes[number(far)], layout)
        place = graph_curves.place_name("contradicts", curve, layout, taken)
        if place:
            taken.append(place)
    half = graph_words.measure("contradicts") * graph_words.CAPTION_PX / 2
    assert len(taken) >= 2
    assert all(half <= x <= layout.width - half for x, _ in taken)
    for one, other in itertools.combinations(taken, 2):
        assert abs(one[0] - other[0]) > 2 * half or abs(one[1] - other[1]) > graph_layout.LINE


@pytest.mark.parametrize("seed", range(6))
def test_a_line_around_the_others_stays_within_the_picture(seed: int) -> None:
    layout = graph_layout.lay_out(CENTRE, grow(seed, 30, depth=3))
    for one, other in itertools.combinations(layout.boxes.values(), 2):
        path = graph_curves.draw_curve(one, other, layout).path
        numbers = [float(part) for part in path.replace("M", "").replace("C", "").split()]
        a, b, c, d = zip(numbers[::2], numbers[1::2], strict=True)
        for share in range(0, 101, 5):
            t = share / 100
            y = (1 - t) ** 3 * a[1] + 3 * (1 - t) ** 2 * t * b[1] + 3 * (1 - t) * t**2 * c[1]
            assert -0.1 <= y + t**3 * d[1] <= layout.height + 0.1


def test_a_text_is_broken_between_words_and_cut_where_it_does_not_fit() -> None:
    lines = graph_words.wrap("The quick brown fox jumps over it", width=90, at_most=2)
    assert lines[0] == "The quick" and len(lines) == 2 and lines[1].endswith("…")
    assert graph_words.wrap("Short", width=90, at_most=2) == ["Short"]
    assert graph_words.wrap("", width=90, at_most=2) == []


@pytest.mark.parametrize("text", ["m" * 500, "我下个月要从上海搬到北京去工作" * 20, "a b " * 100])
def test_no_line_is_longer_than_its_box(text: str) -> None:
    for line in graph_words.wrap(text, width=120, at_most=3):
        assert graph_words.measure(line) * graph_words.LABEL_PX <= 120 + 1e-9

"""Draws a few numbers as small bars, within a line of text."""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, GAP, HEIGHT = 5, 1, 18
"""Of a bar, between two, and of the picture, in px."""


def draw_sparkline(values: Sequence[tuple[str, int]]) -> SafeString:
    """Return the bars of labelled numbers as SVG, which says them to who cannot see it."""
    most = max((value for _, value in values), default=0) or 1
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>',
        (
            (at * (WIDTH + GAP), HEIGHT - height, WIDTH, height, label, value)
            for at, (label, value) in enumerate(values)
            for height in [max(round(HEIGHT * value / most), 1)]
        ),
    )
    return format_html(
        '<svg class="console-spark" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        len(values) * (WIDTH + GAP),
        HEIGHT,
        ", ".join(str(value) for _, value in values),
        bars,
    )

"""Renders rows of figures as a table of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def render_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return columns under a header: the first to the left, figures to the right."""
    cells = [list(header)]
    cells += [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )

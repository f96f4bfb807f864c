"""How figures are shown and predictions written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def format_table(header: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> str:
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


def format_json(figures: Any) -> str:
    """Return one line; figures are rounded to six places."""
    return json.dumps(_rounded(figures), ensure_ascii=False, sort_keys=True)


def _rounded(figures: Any) -> Any:
    if isinstance(figures, float):
        return round(figures, 6)
    if isinstance(figures, Mapping):
        return {key: _rounded(value) for key, value in figures.items()}
    if isinstance(figures, (list, tuple)):
        return [_rounded(value) for value in figures]
    return figures


def check_writable(path: Path | None) -> None:
    """Raise OSError now rather than after minutes of work if a file cannot be written."""
    if path is not None:
        path.open("a", encoding="utf-8").close()


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write one JSON object a line."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

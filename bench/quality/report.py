"""What a measurement prints, and the lines that it writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """Figures for `--json`, the same as text, and the rows for `--out`."""

    figures: Any
    text: str
    rows: tuple[Mapping[str, Any], ...] = ()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]], *, mode: str = "w") -> None:
    """Write one JSON object a line."""
    with path.open(mode, encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what was written; nothing where there is no file."""
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())

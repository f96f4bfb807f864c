"""Reading files of labelled cases, one JSON object a line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from episodic.loading import UnreadableFile

Case = dict[str, Any]


def read_objects(path: Path) -> Iterator[tuple[str, Case]]:
    """Yield (where, object) for each line that is not empty; `where` names file and line.

    A name that ends in ".gz" is unpacked.

    Raises:
        UnreadableFile: no file, no UTF-8, no JSON, or a line that is no object.
    """
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            given = json.loads(line)
        except ValueError as error:
            raise UnreadableFile(f"{where} is not valid JSON.") from error
        if not isinstance(given, dict):
            raise UnreadableFile(f"{where} is not a JSON object.")
        yield where, given


def _read_text(path: Path) -> str:
    try:
        packed = path.read_bytes()
        return (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read as UTF-8 text.") from error


def check_cases(path: Path, cases: list[Case]) -> None:
    """Raise UnreadableFile where there is no case, or an id that stands twice."""
    if not cases:
        raise UnreadableFile(f"{path} holds no case.")
    seen: set[str] = set()
    for case in cases:
        if case["id"] in seen:
            raise UnreadableFile(f"{path} has the id {case['id']!r} twice.")
        seen.add(case["id"])

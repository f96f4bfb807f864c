"""Reads labelled files and checks their form."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wings.transfer.loading import UnreadableFile


class Labelled(BaseModel):
    """A line of a labelled file; texts are stripped."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)

    id: str | int


Row = TypeVar("Row", bound=Labelled)


def read_rows(path: Path, form: TypeAdapter[Row]) -> list[Row]:
    """Return the rows of a file with one JSON object a line; ".gz" is unpacked.

    Raises:
        UnreadableFile: no such file, no row, a row of another form, or an id twice.
    """
    rows: list[Row] = []
    seen: set[str | int] = set()
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        rows.append(_parse(line, form, where=f"{path}, line {number}"))
        if rows[-1].id in seen:
            raise UnreadableFile(f"{path} has the id {rows[-1].id!r} twice.")
        seen.add(rows[-1].id)
    if not rows:
        raise UnreadableFile(f"{path} is empty.")
    return rows


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read as UTF-8 text.") from error


def _parse(text: str, form: TypeAdapter[Row], *, where: str) -> Row:
    try:
        return form.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UnreadableFile(f"{where}{', ' * bool(place)}{place}: {first['msg']}.") from error

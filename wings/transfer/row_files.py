"""Reads and writes rows in files: CSV for spreadsheets, JSON for programs.

A spreadsheet treats a cell that begins with = + - @ as a formula, even full-width or after blanks
and invisible characters. Such cells are written with an apostrophe before them, which is removed
when they are read.
"""

import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import UUID

from memoryproject.edge import json_files
from memoryproject.edge.errors import Problem
from memoryproject.edge.fields import say_moment
from memoryproject.edge.json_files import Element, TextLine, Watch

FORMATS = ("csv", "jsonl")
FORMULA = re.compile(
    r"'*(?:[\t\r\n]|[\s\x00-\x1f\x7f\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
    r"[=+\-@＝＋－＠﹦﹢﹣﹫−])"
)
"""Beginning of a formula: a sign, or its full-width, small or mathematical form, after invisible
characters; or a tab or line break, since some programs drop it and read on."""
LINE_AT_MOST = 1_000_000
"""Longest line in characters: no row of ours is longer."""
SEPARATORS = (",", ";", "\t")
BOM = "\ufeff"
"""Marks a file as UTF-8 for spreadsheets."""
MEMBERS = re.compile(r"(?:^|/)(?:conversations|memories|projects)[-\w]*\.json$")
"""Names of the files in a ZIP archive that are read."""
WHOLE = ""
"""In place of a key: the file itself is one element, if it has none of the earlier keys."""


class Line(NamedTuple):
    """A row of a file, or, where `row` is None, what is wrong with it."""

    number: int
    row: Mapping[str, Any] | None
    fault: str = ""


def defuse(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """Return a cell without the quote that kept a spreadsheet from reading a formula."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def render_header(columns: Sequence[str], *, form: str) -> str:
    return BOM + _to_csv(columns) if form == "csv" else ""


def render_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, form: str) -> str:
    if form == "csv":
        return "".join(_to_csv([defuse(to_cell(row[name])) for name in columns]) for row in rows)
    records = ({name: row[name] for name in columns} for row in rows)
    return "".join(
        json.dumps(record, ensure_ascii=False, default=_to_text) + "\n" for record in records
    )


def _to_csv(cells: Sequence[str]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line).writerow(cells)
    return line.getvalue()


def to_cell(value: Any) -> str:
    """Return a value as the text of a cell; anything but text, a time or an id becomes JSON."""
    if value is None:
        return ""
    if isinstance(value, str | datetime | UUID):
        return _to_text(value)
    return json.dumps(value, ensure_ascii=False)


def _to_text(value: str | datetime | UUID) -> str:
    return say_moment(value) if isinstance(value, datetime) else str(value)


def read_rows(file: IO[bytes]) -> Iterator[Line]:
    """Yield the rows of a file; its first character tells the format.

    CSV cells are text; an empty one counts as missing.

    Raises:
        Problem: it cannot be read, or not to its end.
    """
    # A cell of CSV may have blank lines in it.
    lines = json_files.read_lines(file, at_most=LINE_AT_MOST, keeps_blank=True)
    first = next((line for line in lines if not _is_blank(line)), None)
    if first is None:
        raise Problem("The file is empty.")
    start = (first.text or "").lstrip()
    if start.startswith("["):
        fault = "This is one JSON array. Is it another system's export? Then choose that system."
        raise Problem(f"{fault} Else write one object a line.")
    both = chain([first], lines)
    # A line that is too long tells no format: JSON's next row says at least that.
    yield from _read_jsonl(both) if start.startswith("{") else _read_csv(both, header=start)


def _read_jsonl(lines: Iterable[TextLine]) -> Iterator[Line]:
    for line in lines:
        if _is_blank(line):
            continue
        try:
            row = json_files.parse_line(line, at_most=LINE_AT_MOST)
        except Problem as problem:
            yield Line(line.number, None, problem.message)
            continue
        if isinstance(row, dict):
            yield Line(line.number, row)
        else:
            yield Line(line.number, None, "This must be an object: {…}.")


def _read_csv(lines: Iterable[TextLine], *, header: str) -> Iterator[Line]:
    separator = max(SEPARATORS, key=header.count)
    reader = csv.reader(map(_get_text, lines), delimiter=separator, strict=True)
    names: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = _check_header(cells)
            elif len(cells) > len(names):
                fault = f"It has {len(cells)} cells under {len(names)} headings."
                yield Line(reader.line_num, None, fault)
            else:
                whole = [restore(cell) for cell in cells]
                yield Line(reader.line_num, dict(zip(names, whole, strict=False)))
    except csv.Error as error:
        raise Problem(
            f"Line {reader.line_num} is not valid CSV: a quote is missing, or a cell too long."
        ) from error


def _is_blank(line: TextLine) -> bool:
    return line.text is not None and not line.text.strip()


def _get_text(line: TextLine) -> str:
    if line.text is None:
        raise Problem(f"Line {line.number} is longer than {LINE_AT_MOST:,} characters.")
    return line.text


def _check_header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    twice = {name for name in names if name and names.count(name) > 1}
    if twice:
        raise Problem(f"The heading {min(twice)[:50]!r} occurs twice.")
    return names


def read_elements(
    path: Path, *, keys: Sequence[str], watch: Watch = json_files.ignore
) -> Iterator[Element]:
    """Yield the objects of a JSON file, a file of JSON lines (`.jsonl`) or a ZIP archive, in order.

    These are in the arrays under the keys, or in the array that is the file. One is in memory at a
    time.

    Raises:
        OSError: the file cannot be read.
        Problem: it is not JSON, or an element is not an object; the message names it.
    """
    try:
        for member, file in _open_files(path):
            parse = _parse_lines if path.suffix == ".jsonl" else _parse_elements
            for place, row in parse(file, keys, watch):
                place = f"{member}: {place}" if member else place
                if not isinstance(row, dict):
                    raise Problem(f"{place}: This is no object.")
                yield Element(place, row)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise Problem("The file is no archive, a damaged one, or encrypted.") from error


def _open_files(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the members of an archive that contain memories, with their names, or the file."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield "", file
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if MEMBERS.search(name)]
        if not names:
            raise Problem("The archive has no conversations.json.")
        for name in names:
            with closing(archive.open(name)) as member:
                yield name[-100:], member


def _parse_lines(file: IO[bytes], keys: Sequence[str], watch: Watch) -> Iterator[Element]:
    for line in json_files.read_lines(file, watch=watch):
        try:
            yield Element(f"line {line.number}", json_files.parse_line(line))
        except Problem as problem:
            raise Problem(f"line {line.number}: {problem.message}") from problem


def _parse_elements(file: IO[bytes], keys: Sequence[str], watch: Watch) -> Iterator[Element]:
    is_array = file.read(1_000).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    file.seek(0)
    if is_array:
        yield from json_files.read_elements(file, prefix="item", name="", watch=watch)
        return
    has_rows = False
    for key in keys:
        if key == WHOLE and has_rows:
            return
        file.seek(0)
        prefix, name = (f"{key}.item", key) if key else ("", "the file")
        for element in json_files.read_elements(file, prefix=prefix, name=name, watch=watch):
            has_rows = True
            yield element

"""Writing and reading rows in files: CSV for spreadsheets, JSON for programs.

A spreadsheet takes a cell that begins with = + - @ for a formula, in full-width letters and behind
blanks and signs that nobody sees, too. Such cells go out with an apostrophe before them, and lose
it when they come back.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import UUID

import ijson

from memoryproject.edge.errors import Problem
from memoryproject.edge.fields import say_moment

FORMATS = ("csv", "jsonl")
FORMULA = re.compile(
    r"'*(?:[\t\r\n]|[\s\x00-\x1f\x7f\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
    r"[=+\-@＝＋－＠﹦﹢﹣﹫−])"
)
"""What begins a formula: a sign, or its full-width, small or mathematical twin, behind what is not
seen; a tab or a line break alone, since some programs drop it and read on."""
LINE_AT_MOST = 1_000_000
"""Characters of a line: no row of ours is longer."""
SEPARATORS = (",", ";", "\t")
BOM = "\ufeff"
"""Tells a spreadsheet that a file is UTF-8."""
MEMBERS = re.compile(r"(?:^|/)(?:conversations|memories|projects)[-\w]*\.json$")
"""What is read of a ZIP archive."""
WHOLE = ""
"""Instead of a key: the file itself is one element, if it has none of the keys before."""


class Line(NamedTuple):
    """A row of a file, or, where `row` is None, what is wrong with it."""

    number: int
    row: Mapping[str, Any] | None
    fault: str = ""


def defuse(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) else cell


def restore(cell: str) -> str:
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
    """Return a value as the text of a cell; what is no text, time or id is JSON."""
    if value is None:
        return ""
    if isinstance(value, str | datetime | UUID):
        return _to_text(value)
    return json.dumps(value, ensure_ascii=False)


def _to_text(value: str | datetime | UUID) -> str:
    return say_moment(value) if isinstance(value, datetime) else str(value)


def read_rows(file: IO[bytes]) -> Iterator[Line]:
    """Yield the rows of a file; its first character tells its format.

    Cells of CSV are text; an empty one is as good as none.

    Raises:
        Problem: it cannot be read (any further).
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        first = _find_first(text)
        if first.startswith("["):
            raise Problem("This is one JSON array. Write one object a line instead.")
        yield from _read_jsonl(text) if first.startswith("{") else _read_csv(text, header=first)
    except UnicodeDecodeError as error:
        raise Problem("The file is not text in UTF-8. Save it as UTF-8 and try again.") from error
    finally:
        text.detach()


def _find_first(text: io.TextIOWrapper) -> str:
    """Return the first line that is not empty; the file starts over."""
    for line in iter(lambda: text.readline(LINE_AT_MOST), ""):
        if line.strip():
            text.seek(0)
            return line.lstrip()
    raise Problem("The file is empty.")


def _read_jsonl(text: io.TextIOWrapper) -> Iterator[Line]:
    for number, line in enumerate(_cut_lines(text), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            yield Line(number, None, "This is not valid JSON.")
            continue
        if isinstance(row, dict):
            yield Line(number, row)
        else:
            yield Line(number, None, "This must be an object: {…}.")


def _cut_lines(text: io.TextIOWrapper) -> Iterator[str]:
    for line in iter(lambda: text.readline(LINE_AT_MOST), ""):
        if len(line) == LINE_AT_MOST:
            raise Problem(f"A line is longer than {LINE_AT_MOST:,} characters.")
        yield line


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_csv(text: io.TextIOWrapper, *, header: str) -> Iterator[Line]:
    separator = max(SEPARATORS, key=header.count)
    reader = csv.reader(_cut_lines(text), delimiter=separator, strict=True)
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


def _check_header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    twice = {name for name in names if name and names.count(name) > 1}
    if twice:
        raise Problem(f"The heading {min(twice)[:50]!r} occurs twice.")
    return names


def read_elements(path: Path, *, keys: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a JSON file, a file of JSON lines (`.jsonl`) or a ZIP archive, in order.

    They are those of the arrays under the keys, or of the one array that the file is. One is in
    memory at a time.

    Raises:
        OSError: the file cannot be read.
        Problem: it is not JSON, or an element is no object.
    """
    try:
        for file in _open_files(path):
            for row in _parse_elements(file, keys, has_lines=path.suffix == ".jsonl"):
                if not isinstance(row, dict):
                    raise Problem("An element of the file is no object.")
                yield row
    except (ValueError, RecursionError, ijson.JSONError, zipfile.BadZipFile) as error:
        raise Problem("The file is not valid JSON, or no archive.") from error


def _open_files(path: Path) -> Iterator[IO[bytes]]:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if MEMBERS.search(name)]
        if not names:
            raise Problem("The archive has no conversations.json.")
        for name in names:
            with closing(archive.open(name)) as member:
                yield member


def _parse_elements(file: IO[bytes], keys: Sequence[str], *, has_lines: bool) -> Iterator[Any]:
    if has_lines:
        yield from (json.loads(line) for line in file if line.strip())
        return
    start = file.read(1_000).lstrip()
    prefixes = [key and f"{key}.item" for key in keys]
    has_rows = False
    for prefix in ["item"] if start.startswith(b"[") else prefixes:
        if prefix == WHOLE and has_rows:
            return
        file.seek(0)
        for row in ijson.items(file, prefix, use_float=True):
            has_rows = True
            yield row

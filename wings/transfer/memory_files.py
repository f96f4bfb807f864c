"""Reads a file of `export_memory all`, some rows of one table at a time."""

import json
import uuid
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from memoryproject.edge.errors import Problem
from memoryproject.edge.json_files import TextLine, Watch, ignore, parse_line, read_lines
from wings.transfer import export_tables
from wings.transfer.export_tables import ANONYMOUS, OF_MEMORY, REFERENCES
from wings.transfer.row_files import LINE_AT_MOST

Row = dict[str, Any]


def read_batches(
    path: Path, *, at_once: int, watch: Watch = ignore
) -> Iterator[tuple[str, list[Row]]]:
    """Yield up to `at_once` rows of one table each, in the file's order.

    Raises:
        OSError: the file cannot be read.
        Problem: it is not our format, or a row is invalid; the message names line and column.
    """
    with path.open("rb") as file:
        lines = read_lines(file, at_most=LINE_AT_MOST, watch=watch)
        first = next(lines, None)
        if first is None or not _is_ours(_parse_row(first)):
            raise Problem(f"The first line must be {json.dumps(export_tables.HEADER)}.")
        for table, rows in groupby(map(_read_row, lines), key=lambda row: row["table"]):
            while batch := list(islice(rows, at_once)):
                yield table, batch


def _is_ours(header: Any) -> bool:
    """Return whether the first line is our format's; it may name the server that wrote it."""
    return isinstance(header, dict) and header.items() >= export_tables.HEADER.items()


def _parse_row(line: TextLine) -> Any:
    try:
        return parse_line(line, at_most=LINE_AT_MOST)
    except Problem as problem:
        raise Problem(f"line {line.number}: {problem.message}") from problem


def _read_row(line: TextLine) -> Row:
    """Return a row with values of the right types, or a text about what is wrong."""
    parsed = _parse_row(line)
    row: Row = parsed if isinstance(parsed, dict) else {}
    table = row.get("table")
    if not isinstance(table, str) or table not in OF_MEMORY:
        raise Problem(f"line {line.number}.table: There is no table {table!r:.50}.")
    export, name = OF_MEMORY[table], "id"
    try:
        if table not in ANONYMOUS:
            uuid.UUID(row[name])
        for name, path in export.fields.items():
            value = row.get(name)
            if name in REFERENCES and value is not None:
                uuid.UUID(value)
            elif name in row and "__" not in path:
                column: Any = export.model._meta.get_field(path)
                column.to_python(value)
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
        raise Problem(
            f"line {line.number}.{name}: A row of {table} is not as `export_memory all` writes it."
        ) from error
    return row
